"""The app's name for Django."""

from django.apps import AppConfig


class SubmissionsConfig(AppConfig):
    """Runs as teams send them."""

    name = "submissions"
