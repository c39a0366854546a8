"""What is read of collections, their posts and formulas."""

from collection.selectors.collections import collection_of, formulas_frame, posts_frame, thread_of, visual_ids
from collection.selectors.imports import (
    Holdings,
    ImportRow,
    Lack,
    holdings_of,
    import_row,
    import_rows,
    lacks_of,
    problems_of,
)
from collection.selectors.threads import (
    LinkedQuestion,
    Links,
    Thread,
    find_commented,
    find_posts,
    find_thread,
)

__all__ = [
    "Holdings",
    "ImportRow",
    "Lack",
    "LinkedQuestion",
    "Links",
    "Thread",
    "collection_of",
    "find_commented",
    "find_posts",
    "find_thread",
    "formulas_frame",
    "holdings_of",
    "import_row",
    "import_rows",
    "lacks_of",
    "posts_frame",
    "problems_of",
    "thread_of",
    "visual_ids",
]
