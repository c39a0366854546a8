"""The app's name for Django."""

from arqlab.web.apps import LabApp


class EvaluationConfig(LabApp):
    """Scores, leaderboards and their analyses."""

    name = "evaluation"
