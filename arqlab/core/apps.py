"""The app's name for Django."""

from django.apps import AppConfig


class CoreConfig(AppConfig):
    """People, labs, tasks, topics and teams."""

    name = "arqlab.core"
    label = "core"
