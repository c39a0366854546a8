"""The Django application of teams."""

from arqlab.apps import LabApp


class TeamsConfig(LabApp):
    """Teams of labs."""

    name = "arqlab.teams"
    label = "teams"
