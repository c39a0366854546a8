"""The app's name for Django."""

from django.apps import AppConfig


class SubmissionsConfig(AppConfig):
    """Runs submitted by teams."""

    name = "submissions"
