"""The app's name for Django."""

from django.apps import AppConfig


class AssessmentConfig(AppConfig):
    """Qrels."""

    name = "assessment"
