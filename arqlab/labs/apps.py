"""The Django application of labs."""

from arqlab.apps import LabApp


class LabsConfig(LabApp):
    """Labs: their tasks, topics, people and roles."""

    name = "arqlab.labs"
    label = "labs"
