"""Assignments of topics to assessors."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from arqlab.core.models import Topic, User


class Assignment(models.Model):
    """The assignment of a topic, with its items in all open pools of the task, to an assessor.

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
