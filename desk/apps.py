"""The app's name for Django."""

from arqlab.apps import LabApp


class DeskConfig(LabApp):
    """Pages that span all apps, and the demo lab."""

    name = "desk"
