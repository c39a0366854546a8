"""The Django application of notices."""

from arqlab.web.apps import LabApp


class NoticesConfig(LabApp):
    """Notices, mail, messages and invitations."""

    name = "arqlab.notices"
    label = "notices"
