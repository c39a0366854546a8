"""The app's name for Django."""

from arqlab.apps import LabApp


class SampleConfig(LabApp):
    """Greets the topics of a task."""

    name = "contrib.sample"
