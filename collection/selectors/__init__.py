"""What is read of collections, their posts and formulas."""

from collection.selectors.collections import collection_of, formulas_frame, posts_frame, thread_of, visual_ids
from collection.selectors.threads import (
    LinkedQuestion,
    Links,
    Thread,
    find_commented,
    find_posts,
    find_thread,
)

__all__ = [
    "LinkedQuestion",
    "Links",
    "Thread",
    "collection_of",
    "find_commented",
    "find_posts",
    "find_thread",
    "formulas_frame",
    "posts_frame",
    "thread_of",
    "visual_ids",
]
