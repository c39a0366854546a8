"""The app's name for Django."""

from arqlab.apps import LabApp


class EvaluationConfig(LabApp):
    """Scores, leaderboards and their analyses."""

    name = "evaluation"
