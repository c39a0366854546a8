"""What loads a collection and renders its posts."""

from collection.services.loading import load_collection
from collection.services.rendering import render_posts, render_thread

__all__ = ["load_collection", "render_posts", "render_thread"]
