"""The app's name for Django."""

from django.apps import AppConfig


class DeskConfig(AppConfig):
    """Pages that span all apps, and the demo lab."""

    name = "desk"
