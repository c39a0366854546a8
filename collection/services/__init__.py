"""What loads a collection and renders its posts."""

from collection.services.loading import load_collection
from collection.services.rendering import render_posts
from collection.services.topicmaking import make_topic_files

__all__ = ["load_collection", "make_topic_files", "render_posts"]
