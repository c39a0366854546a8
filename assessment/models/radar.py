"""What the radar of a task stores: dismissed findings, and the posts with the same text."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from arqkit.judgments.findings import FindingKind
from arqlab.core.models import Task, User


class DismissedFinding(models.Model):
    """A finding that an organizer dismissed with a note, or did before it was reopened.

    Findings are computed from the judgments. `key` names one of them, and `summary` keeps what it
    said (arqkit.judgments.findings).
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
                fields=["task", "key"],
                condition=Q(reopened_at=None),
                name="finding_dismissed_once",
            )
        ]

    def __str__(self) -> str:
        return f"{self.task} {self.key}"


class DuplicatePosts(models.Model):
    """The posts in a task's pools that have the same text.

    `groups` is a list of pairs: the id of the first post, and the keys of all instances.
    """

    task = models.OneToOneField(Task, models.CASCADE, related_name="duplicate_posts")
    groups = models.JSONField(default=list)
    found_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.task} duplicates"
