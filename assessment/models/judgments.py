"""Judgments. Append-only: a new label is a new row that supersedes the one before."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from arqlab.core.models import User
from arqlab.ir.labels import LARGEST_VALUE, ScaleLabel
from assessment.models.assignments import Guideline
from assessment.models.pools import PoolInstance


class Judgment(models.Model):
    """The label an assessor gave to an instance. Rows never change except for `is_current`.

    The current judgment of an instance counts. A label for an instance that another assessor, or
    the same one in another tab, has judged since is stored and does not count. The page makes one
    `key` per label, so that a label sent twice is stored once.
    """

    instance = models.ForeignKey(PoolInstance, models.PROTECT, related_name="judgments")
    assessor = models.ForeignKey(User, models.PROTECT, null=True, related_name="judgments")
    label = models.SmallIntegerField(help_text="A value of the pool's scale.")
    comment = models.TextField(blank=True)
    reason = models.TextField(blank=True, help_text="Why the label before it was changed.")
    active_ms = models.PositiveIntegerField(
        null=True, help_text="Time with the page in view and the person at it."
    )
    guideline = models.ForeignKey(Guideline, models.PROTECT, null=True, related_name="judgments")
    key = models.UUIDField(unique=True)
    supersedes = models.ForeignKey(
        "self", models.PROTECT, null=True, blank=True, related_name="superseded_by"
    )
    is_current = models.BooleanField(default=True)
    is_imported = models.BooleanField(default=False, help_text="It was judged elsewhere.")
    judged_at = models.DateTimeField()
    given_at = models.DateTimeField(
        null=True,
        help_text="When the assessor gave it by the page's clock, "
        "which may be long before it could be sent.",
    )

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["instance"],
                condition=Q(is_current=True),
                name="one_current_judgment_per_instance",
            ),
            models.CheckConstraint(
                condition=Q(label__gte=0, label__lte=LARGEST_VALUE), name="judgment_label_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.instance} {self.label}"

    @property
    def scale_label(self) -> ScaleLabel:
        """Return the label as the scale of its pool has it."""
        return self.instance.item.pool.label_scale.of(self.label)


class Ticket(models.Model):
    """An item that an assessor reported with a label that is not a judgment, and what they saw."""

    judgment = models.OneToOneField(Judgment, models.PROTECT, related_name="ticket")
    html = models.TextField(blank=True, help_text="The item as the page showed it.")
    browser = models.CharField(max_length=300, blank=True)
    raised_at = models.DateTimeField()
    answer = models.TextField(blank=True)
    answered_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    answered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        indexes = [
            models.Index(fields=["raised_at"], condition=Q(answered_at=None), name="ticket_open")
        ]

    def __str__(self) -> str:
        return f"Ticket {self.pk}"
