"""The pages of a collection."""

from collection.views.maps import visual_map_detail
from collection.views.threads import post_detail

__all__ = ["post_detail", "visual_map_detail"]
