"""The app's name for Django."""

from arqlab.apps import LabApp


class RetrievalConfig(LabApp):
    """The organizers' own systems: baselines and search."""

    name = "contrib.retrieval"
