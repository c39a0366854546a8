"""The guidelines for assessors: their versions and entries."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from arqkit.labels import LARGEST_VALUE
from arqlab.core.models import Task, User


class Guideline(models.Model):
    """One version of the guidelines of a task: HTML as the organizer wrote it. It never changes."""

    task = models.ForeignKey(Task, models.CASCADE, related_name="guidelines")
    version = models.PositiveSmallIntegerField()
    text = models.TextField()
    definitions = models.JSONField(
        default=dict, blank=True, help_text="What labels mean, by value, beside the text."
    )
    written_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    written_at = models.DateTimeField()

    class Meta:
        ordering = ["task", "version"]
        constraints = [
            models.UniqueConstraint(
                fields=["task", "version"], name="guideline_version_once_per_task"
            )
        ]


class GuidelineEntry(models.Model):
    """An example of a label, or a decided case, in the guidelines of a task.

    It belongs to the versions from `since` until before `until`. An entry whose `since` is the next
    version waits to be published with it. The texts of the topic and the item are copies, as clean
    HTML with LaTeX, so that versions do not change with the collection.
    """

    class Kind(models.TextChoices):
        """The kinds of entries."""

        EXAMPLE = "example", "Example"
        CASE = "case", "Case"

    class Origin(models.TextChoices):
        """Where a case was decided."""

        GUIDELINES = "guidelines", "Guidelines"
        TRAINING = "training", "Training meeting"
        ADJUDICATION = "adjudication", "Adjudication"
        TICKET = "ticket", "Ticket"

    task = models.ForeignKey(Task, models.CASCADE, related_name="guideline_entries")
    kind = models.CharField(max_length=8, choices=Kind.choices)
    since = models.PositiveSmallIntegerField(help_text="The first version with the entry.")
    until = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="The first version without the entry."
    )
    topic = models.CharField(max_length=100, blank=True, help_text="The id of the topic.")
    topic_html = models.TextField(blank=True)
    item = models.CharField(max_length=300, blank=True, help_text="The id of the item in qrels.")
    item_html = models.TextField(blank=True)
    post_id = models.CharField(max_length=300, blank=True)
    formula_id = models.CharField(
        max_length=300, blank=True, help_text="The formula to highlight in the item."
    )
    label = models.SmallIntegerField(null=True, blank=True)
    question = models.TextField(blank=True, help_text="The question that a case decided.")
    decision = models.TextField(blank=True)
    reason = models.TextField(blank=True)
    origin = models.CharField(max_length=12, choices=Origin.choices, default=Origin.GUIDELINES)
    place = models.CharField(max_length=200, blank=True, help_text="Such as the training round.")
    decided_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    decided_at = models.DateTimeField()

    class Meta:
        ordering = ["task", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(until=None) | Q(until__gt=models.F("since")),
                name="guideline_entry_in_a_version",
            ),
            models.CheckConstraint(
                condition=Q(label=None) | Q(label__gte=0, label__lte=LARGEST_VALUE),
                name="guideline_entry_label_known",
            ),
        ]
