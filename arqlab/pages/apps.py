"""The app's name for Django."""

from django.apps import AppConfig


class PagesConfig(AppConfig):
    """Pages that span all apps, and the demo lab."""

    name = "arqlab.pages"
    label = "pages"
