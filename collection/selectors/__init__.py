"""What is read of collections, their posts and formulas."""

from collection.selectors.collections import (
    collection_of,
    formulas_frame,
    posts_frame,
    scan_columns,
    thread_of,
    visual_ids,
)
from collection.selectors.visualmaps import (
    Judged,
    changed_formulas,
    formula_latex,
    map_before,
    map_frame,
    map_table,
    newest_map,
    opinion_rows,
    with_formulas,
)

__all__ = [
    "Judged",
    "changed_formulas",
    "collection_of",
    "formula_latex",
    "formulas_frame",
    "map_before",
    "map_frame",
    "map_table",
    "newest_map",
    "opinion_rows",
    "posts_frame",
    "scan_columns",
    "thread_of",
    "visual_ids",
    "with_formulas",
]
