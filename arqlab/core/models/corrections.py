"""Corrections: texts that a lab shows instead of those of its collection."""

from collections.abc import Mapping
from typing import NamedTuple

from django.db import models

from arqlab.core.models.labs import Lab
from arqlab.core.models.people import User


class Corrections(NamedTuple):
    """The corrections of a lab by their keys, as pages use them."""

    formulas: Mapping[str, str] = {}
    texts: Mapping[str, str] = {}
    threads: Mapping[str, str] = {}


class Correction(models.Model):
    """A text that a lab shows instead of the collection's; the collection never changes.

    For a formula, the key is its LaTeX and the value is other LaTeX, wherever the lab shows exactly
    this formula. For a text, the key is the id of a post or of a generated answer, and the value is
    HTML, not sanitized. For a thread, the key is the id of an answer, and the value is the id of
    its question. No foreign key refers to a post, so that corrections outlive it.
    """

    class Kind(models.TextChoices):
        """What is corrected."""

        FORMULA = "formula", "Formula"
        TEXT = "text", "Text"
        THREAD = "thread", "Thread"

    lab = models.ForeignKey(Lab, models.CASCADE, related_name="corrections")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    key = models.TextField()
    digest = models.CharField(max_length=64, help_text="SHA-256 of the key, which may be long.")
    value = models.TextField()
    made_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    made_at = models.DateTimeField()

    class Meta:
        ordering = ["-made_at", "-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["lab", "kind", "digest"], name="correction_once_per_lab"
            ),
            models.CheckConstraint(
                condition=models.Q(kind__in=["formula", "text", "thread"]),
                name="correction_kind_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.key}"
