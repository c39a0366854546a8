"""The configuration of the app."""

from django.apps import AppConfig


class RetrievalConfig(AppConfig):
    """The organizers' own systems, and the baselines that they make."""

    name = "retrieval"
