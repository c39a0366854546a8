"""What was found in judgments, and what organizers dismissed of it."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from arqkit.judgments.radar import FindingKind
from arqlab.core.models import Task, User


class DismissedFinding(models.Model):
    """A finding that an organizer dismissed with a note; it may have been reopened since.

    Findings are computed from the judgments. `key` names one of them, and `summary` keeps what it
    said (arqkit.judgments.radar).
    """

    task = models.ForeignKey(Task, models.CASCADE, related_name="dismissed_findings")
    key = models.CharField(max_length=40)
    kind = models.CharField(max_length=20, choices=[(one.value, one.value) for one in FindingKind])
    assessor = models.ForeignKey(User, models.PROTECT, related_name="+")
    topic = models.CharField(max_length=100, blank=True, help_text="The topic's id, if it has one.")
    summary = models.TextField()
    note = models.TextField()
    dismissed_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    dismissed_at = models.DateTimeField()
    reopened_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["task", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["task", "key"], condition=Q(reopened_at=None), name="finding_dismissed_once"
            )
        ]


class DuplicatePosts(models.Model):
    """The posts in a task's pools with the same text: pairs of the first id and all instances."""

    task = models.OneToOneField(Task, models.CASCADE, related_name="duplicate_posts")
    groups = models.JSONField(default=list)
    found_at = models.DateTimeField()
