"""The app's name for Django."""

from django.apps import AppConfig


class CollectionConfig(AppConfig):
    """What is searched."""

    name = "collection"
