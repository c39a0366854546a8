"""How the organizers' own systems made their runs."""

from collections.abc import Mapping

from django.db import models
from django.utils.text import capfirst

from submissions.models import Run


class SystemRun(models.Model):
    """What made a baseline: the system, its settings, and the collection that it searched."""

    run = models.OneToOneField(Run, models.CASCADE, primary_key=True, related_name="made_by")
    system = models.CharField(max_length=40, help_text="The key of the `System`.")
    settings = models.JSONField(default=dict, help_text="The parameters of the system.")
    recorded = models.JSONField(
        default=dict,
        blank=True,
        help_text="The versions of packages, weights and the hash of the model.",
    )
    collection = models.CharField(
        max_length=64, blank=True, help_text="SHA-256 of the collection's files, or empty."
    )

    def __str__(self) -> str:
        return f"{self.run} by {self.system}"

    @property
    def recorded_text(self) -> str:
        """Return what was recorded on a line for each name, such as `Weights: …`."""
        lines = (
            f"{capfirst(name.replace('_', ' '))}: {_as_lines(value)}".replace("\n", "; ")
            for name, value in self.recorded.items()
        )
        return "\n".join(lines).replace("sha256", "SHA-256")

    @property
    def parameters(self) -> dict[str, object]:
        """Return settings and what was recorded by names for people, such as `Max tokens`."""
        values = {
            **self.settings,
            **{key: _as_lines(value) for key, value in self.recorded.items()},
        }
        words = ((name.replace("_", " "), value) for name, value in values.items())
        return {capfirst(name.replace("sha256", "SHA-256")): value for name, value in words}


def _as_lines(value: object) -> str:
    """Return a recorded value as people read it: a line for each name, numbers in a row."""
    if isinstance(value, Mapping):
        return "\n".join(f"{name} {_as_lines(inner)}" for name, inner in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return str(value)
