"""What is read of collections, their posts and formulas."""

from collection.selectors.collections import (
    collection_of,
    formulas_frame,
    posts_frame,
    scan_columns,
    thread_of,
    visual_ids,
)
from collection.selectors.visualmaps import map_frame, newest_map

__all__ = [
    "collection_of",
    "formulas_frame",
    "map_frame",
    "newest_map",
    "posts_frame",
    "scan_columns",
    "thread_of",
    "visual_ids",
]
