"""The pages of a collection."""

from collection.views.formulas import formula_by_id, formula_detail
from collection.views.maps import visual_map_detail
from collection.views.search import post_list
from collection.views.threads import post_detail

__all__ = ["formula_by_id", "formula_detail", "post_detail", "post_list", "visual_map_detail"]
