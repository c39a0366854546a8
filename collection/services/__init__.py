"""What loads a collection, makes its visual ids, and renders its posts."""

from collection.services.columns import sweep_columns
from collection.services.converting import convert_latex
from collection.services.importing import import_file, import_formulas, import_posts, index_found_formulas
from collection.services.loading import load_collection, require_loadable, search_collection
from collection.services.rendering import render_posts
from collection.services.topicmaking import make_topic_files
from collection.services.visualmaps import make_visual_map

__all__ = [
    "convert_latex",
    "import_file",
    "import_formulas",
    "import_posts",
    "index_found_formulas",
    "load_collection",
    "make_topic_files",
    "make_visual_map",
    "render_posts",
    "require_loadable",
    "search_collection",
    "sweep_columns",
]
