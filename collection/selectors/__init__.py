"""What is read of a collection."""

from collection.selectors.candidates import candidates_of, questions_named
from collection.selectors.collections import collection_of, formulas_frame, posts_frame, thread_of, visual_ids

__all__ = [
    "candidates_of",
    "collection_of",
    "formulas_frame",
    "posts_frame",
    "questions_named",
    "thread_of",
    "visual_ids",
]
