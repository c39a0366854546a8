"""The app's name for Django."""

from django.apps import AppConfig


class EvaluationConfig(AppConfig):
    """Scores and leaderboards."""

    name = "evaluation"
