"""The posts and authors that a collection already has, for many ids at once."""

from __future__ import annotations

from collections.abc import Iterable

from arqkit.formats.batches import in_slices
from collection.models import Author, Collection, Post

# SQLite allows 32,766 parameters in one statement, and a row may need four.
IDS_PER_STATEMENT = 5_000


def known_posts(collection: Collection, post_ids: Iterable[str]) -> set[str]:
    """Return the ids that are posts of the collection."""
    posts = Post.objects.filter(collection=collection)
    slices = in_slices(set(post_ids), size=IDS_PER_STATEMENT)
    return {
        found
        for part in slices
        for found in posts.filter(post_id__in=part).values_list("post_id", flat=True)
    }


def known_authors(collection: Collection, author_ids: Iterable[str]) -> set[str]:
    """Return the ids that are authors of the collection."""
    authors = Author.objects.filter(collection=collection)
    slices = in_slices(set(author_ids), size=IDS_PER_STATEMENT)
    return {
        found
        for part in slices
        for found in authors.filter(author_id__in=part).values_list("author_id", flat=True)
    }
