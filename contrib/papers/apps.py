"""The app's name for Django."""

from arqlab.apps import LabApp


class PapersConfig(LabApp):
    """The overview paper of a lab: kits of tables and figures, and sentences."""

    name = "contrib.papers"
