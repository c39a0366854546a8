"""Frozen qrels: their versions and lines, which never change."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.functional import cached_property

from arqkit.labels import LARGEST_VALUE, LabelScale, scale_of_rows
from arqlab.core.models import Task, User


class QrelSet(models.Model):
    """One version of a task's qrels. A correction is a new version."""

    task = models.ForeignKey(Task, models.CASCADE, related_name="qrel_sets")
    version = models.PositiveSmallIntegerField()
    name = models.SlugField()
    items = models.CharField(max_length=20, choices=Task.Items.choices)
    relevant_from = models.SmallIntegerField(
        help_text="Lowest label that binary measures count as relevant."
    )
    scale = models.JSONField(
        help_text="The version's labels (arqkit.labels.LabelScale.rows), even if the task's "
        "labels have changed since."
    )
    sha256 = models.CharField(
        max_length=64,
        help_text="SHA-256 of the version's file (arqkit.formats.qrels.read.write_qrels).",
    )
    lines = models.PositiveIntegerField(help_text="Number of lines, counted when it was stored.")
    topics = models.PositiveIntegerField(help_text="Number of topics in these lines.")
    is_complete = models.BooleanField(
        default=False, help_text="Whether the version includes labels that are not judgments."
    )
    group = models.CharField(
        max_length=40,
        blank=True,
        help_text="The group of assessors whose labels these are, if not everyone's.",
    )
    dropped = models.JSONField(
        default=list,
        blank=True,
        help_text="Topics left out: topic, number of relevant items, reason (protocol §6), and "
        "`by_hand` if an organizer left it out.",
    )
    out_of_competition = models.JSONField(
        default=list,
        blank=True,
        help_text="Runs that leaderboards of this version list apart: run, team, tag, reason.",
    )
    made_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    is_current = models.BooleanField(
        default=False, help_text="Whether leaderboards use this version by default."
    )
    created_at = models.DateTimeField(default=timezone.now)

    visual_version: int | None = None
    """The version of the visual ids by which runs with formula ids are compared with these qrels.

    It is None, for the newest one, except where the record of a release names another one. 0 means
    the ids in the formula index.
    """

    class Meta:
        ordering = ["task", "version"]
        constraints = [
            models.UniqueConstraint(fields=["task", "version"], name="qrels_version_once_per_task"),
            models.UniqueConstraint(fields=["task", "name"], name="qrels_name_once_per_task"),
            models.UniqueConstraint(
                fields=["task"], condition=Q(is_current=True), name="one_current_qrels_per_task"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.task} {self.name}"

    @cached_property
    def label_scale(self) -> LabelScale:
        """Return the version's scale of labels."""
        return scale_of_rows(self.scale)


class Qrel(models.Model):
    """The label of one item for one topic, a value of the version's scale."""

    qrel_set = models.ForeignKey(QrelSet, models.CASCADE, related_name="qrels")
    query_id = models.CharField(max_length=100)
    doc_id = models.CharField(max_length=300)
    relevance = models.SmallIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["qrel_set", "query_id", "doc_id"], name="item_judged_once_per_qrels"
            ),
            models.CheckConstraint(
                condition=Q(relevance__gte=0, relevance__lte=LARGEST_VALUE), name="qrel_label_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.query_id} {self.doc_id} {self.relevance}"
