"""The pages of a collection."""

from collection.views.formulas import formula_by_id, formula_detail
from collection.views.imports import collection_detail, import_detail, import_problems, import_status
from collection.views.maps import visual_map_detail
from collection.views.search import post_list
from collection.views.threads import post_detail, topic_thread

__all__ = [
    "collection_detail",
    "formula_by_id",
    "formula_detail",
    "import_detail",
    "import_problems",
    "import_status",
    "post_detail",
    "post_list",
    "topic_thread",
    "visual_map_detail",
]
