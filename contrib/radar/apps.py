"""The app's name for Django."""

from arqlab.apps import LabApp


class RadarConfig(LabApp):
    """The radar: judgments to talk about with an assessor."""

    name = "contrib.radar"
