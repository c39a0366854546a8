"""The Django application of notices."""

from arqlab.apps import LabApp


class NoticesConfig(LabApp):
    """Notices, mail, messages and invitations."""

    name = "arqlab.notices"
    label = "notices"
