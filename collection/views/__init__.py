"""The pages of a collection."""

from collection.views.threads import post_detail, topic_thread

__all__ = ["post_detail", "topic_thread"]
