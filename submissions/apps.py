"""The app's name for Django."""

from arqlab.apps import LabApp


class SubmissionsConfig(LabApp):
    """Runs, from their upload to their withdrawal."""

    name = "submissions"
