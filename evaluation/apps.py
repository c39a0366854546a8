"""The configuration of the app."""

from django.apps import AppConfig


class EvaluationConfig(AppConfig):
    """Scores and leaderboards."""

    name = "evaluation"
