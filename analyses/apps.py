"""The app's name for Django."""

from arqlab.apps import LabApp


class AnalysesConfig(LabApp):
    """What boards and rounds say: comparisons, certificates, effects, results of rounds."""

    name = "analyses"
