"""What loads a collection, makes its visual ids, and renders its posts."""

from collection.services.addresses import local_pages, page_of
from collection.services.columns import sweep_columns
from collection.services.converting import convert_latex
from collection.services.formulapage import show_formula, show_instances
from collection.services.importing import import_file, import_formulas, import_posts
from collection.services.indexing import (
    INDEX_CLAIM,
    formula_index_is_small,
    index_formulas,
    index_posts,
    index_small,
    index_waiting,
    waiting_collections,
    waiting_versions,
)
from collection.services.loading import load_collection, require_loadable, search_collection
from collection.services.lookup import Found, Known, look_up
from collection.services.rendering import render_thread, typeset_posts
from collection.services.topicmaking import make_topic_files
from collection.services.visualmaps import make_visual_map

__all__ = [
    "INDEX_CLAIM",
    "Found",
    "Known",
    "convert_latex",
    "formula_index_is_small",
    "import_file",
    "import_formulas",
    "import_posts",
    "index_formulas",
    "index_posts",
    "index_small",
    "index_waiting",
    "load_collection",
    "local_pages",
    "look_up",
    "make_topic_files",
    "make_visual_map",
    "page_of",
    "render_thread",
    "require_loadable",
    "search_collection",
    "show_formula",
    "show_instances",
    "sweep_columns",
    "typeset_posts",
    "waiting_collections",
    "waiting_versions",
]
