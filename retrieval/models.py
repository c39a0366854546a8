"""How the organizers' own systems made their runs."""

from typing import Any

from django.db import models
from django.utils.text import capfirst

from submissions.models import Run


class SystemRun(models.Model):
    """What made a baseline: the system, its settings, and the collection that it searched."""

    run = models.OneToOneField(Run, models.CASCADE, primary_key=True, related_name="made_by")
    system = models.CharField(max_length=40, help_text="The key of the `System`.")
    settings = models.JSONField(default=dict, help_text="The parameters of the system.")
    collection = models.CharField(
        max_length=64, blank=True, help_text="SHA-256 of the collection's files, or empty."
    )

    def __str__(self) -> str:
        return f"{self.run} by {self.system}"

    @property
    def parameters(self) -> dict[str, Any]:
        """Return the settings by their names for people, such as `Max tokens`."""
        words = ((name.replace("_", " "), own) for name, own in self.settings.items())
        return {capfirst(name.replace("sha256", "SHA-256")): own for name, own in words}
