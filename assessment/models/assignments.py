"""Assignments of topics to assessors, and the guidelines."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from arqlab.core.models import Task, Topic, User


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


class Assignment(models.Model):
    """An assessor judges a topic: its items in all open pools of the task.

    A removed assignment is kept with its end; labels stay with the items. Two assessors of one
    topic share its items, and each item is judged once.
    """

    topic = models.ForeignKey(Topic, models.PROTECT, related_name="assignments")
    assessor = models.ForeignKey(User, models.PROTECT, related_name="assignments")
    assigned_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    assigned_at = models.DateTimeField()
    reviewed_since = models.DateTimeField(
        null=True,
        blank=True,
        help_text="Start of the review of the finished topic, if it is in review.",
    )
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["topic", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["topic", "assessor"],
                condition=Q(ended_at=None),
                name="topic_assigned_once_to_a_person",
            )
        ]
        indexes = [
            models.Index(fields=["assessor"], condition=Q(ended_at=None), name="assignment_open")
        ]

    def __str__(self) -> str:
        return f"{self.topic} to {self.assessor}"
