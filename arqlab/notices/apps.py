"""The Django application of notices."""

from django.apps import AppConfig


class NoticesConfig(AppConfig):
    """Notices, mail, messages and invitations."""

    name = "arqlab.notices"
    label = "notices"
