"""What is read of collections, their posts and formulas."""

from collection.selectors.candidates import candidates_of, questions_named
from collection.selectors.collections import (
    collection_of,
    formulas_frame,
    posts_frame,
    scan_columns,
    thread_of,
    visual_ids,
)
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
    "Holdings",
    "ImportRow",
    "Judged",
    "Lack",
    "candidates_of",
    "changed_formulas",
    "collection_of",
    "formula_latex",
    "formulas_frame",
    "holdings_of",
    "import_row",
    "import_rows",
    "lacks_of",
    "map_before",
    "map_frame",
    "map_table",
    "newest_map",
    "opinion_rows",
    "posts_frame",
    "problems_of",
    "questions_named",
    "scan_columns",
    "thread_of",
    "visual_ids",
    "with_formulas",
]
