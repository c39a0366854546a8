"""The Django application of server."""

from arqlab.apps import LabApp


class ServerConfig(LabApp):
    """The server itself: what happens to each request, its health, its guides."""

    name = "arqlab.server"
    label = "server"
