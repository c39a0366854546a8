"""Judgments. Append-only: a new label is a new row that supersedes the one before."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from arqlab.core.models import User
from assessment.models.assignments import Guideline
from assessment.models.pools import PoolInstance


class Judgment(models.Model):
    """What an assessor said of an instance, and when. Rows are never changed but for `is_current`.

    The current one of an instance is what counts. A label that came for an instance which somebody
    else, or the same person in another tab, had judged since is kept and does not count. `key` is
    made by the page, once for each label: a label that is sent twice is stored once.
    """

    class Label(models.IntegerChoices):
        """The labels of protocol §6; 5 and 6 are no judgments, the item counts as unjudged.

        A task may have another scale (`TaskProtocol.labels`): a label that is not here has no name.
        """

        HIGH = 3, "High"
        MEDIUM = 2, "Medium"
        LOW = 1, "Low"
        NOT_RELEVANT = 0, "Not relevant"
        SYSTEM_FAILURE = 5, "System failure"
        DO_NOT_KNOW = 6, "Do not know"

    instance = models.ForeignKey(PoolInstance, models.PROTECT, related_name="judgments")
    assessor = models.ForeignKey(User, models.PROTECT, null=True, related_name="judgments")
    label = models.SmallIntegerField()
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
        help_text="When the assessor gave it by the page's clock, which may be long before it could be sent.",
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
                condition=Q(label__in=[0, 1, 2, 3, 4, 5, 6]), name="judgment_label_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.instance} {self.label}"


class Ticket(models.Model):
    """A system failure or a "do not know" on the organizers' desk, with what the assessor saw."""

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
