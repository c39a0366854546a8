"""Collections, their posts and formulas, and the imports that filled them."""

from collection.models.collections import Collection, LabCollection
from collection.models.formulas import VisualMap
from collection.models.imports import Import, ImportProblem
from collection.models.posts import Author, Comment, Post, PostLink, Tag
from collection.models.text_index import PostWords, TextIndex

__all__ = [
    "Author",
    "Collection",
    "Comment",
    "Import",
    "ImportProblem",
    "LabCollection",
    "Post",
    "PostLink",
    "PostWords",
    "Tag",
    "TextIndex",
    "VisualMap",
]
