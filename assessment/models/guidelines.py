"""The guidelines for assessors, in versions."""

from __future__ import annotations

from django.db import models

from arqlab.core.models import Task, User


class Guideline(models.Model):
    """One version of the guidelines of a task: HTML as the organizer wrote it. It never changes."""

    task = models.ForeignKey(Task, models.CASCADE, related_name="guidelines")
    version = models.PositiveSmallIntegerField()
    text = models.TextField()
    written_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    written_at = models.DateTimeField()

    class Meta:
        ordering = ["task", "version"]
        constraints = [
            models.UniqueConstraint(
                fields=["task", "version"], name="guideline_version_once_per_task"
            )
        ]

    def __str__(self) -> str:
        return f"{self.task} guideline {self.version}"
