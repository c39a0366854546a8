"""Judgments, and those that arrived when their assessor could no longer judge.

Rows of judgments are only added: a new label supersedes the previous row.
"""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from arqkit.labels import LARGEST_VALUE, ScaleLabel
from arqlab.core.models import User
from assessment.models.guidelines import Guideline
from assessment.models.pools import Official, PoolInstance


class Judgment(models.Model):
    """The label an assessor gave to an instance. Rows never change except for `is_current`.

    The current judgment of an instance counts. If another assessor, or the same assessor in another
    tab, judged the instance in the meantime, or if the assessor may not judge it any more
    (`LateLabel`), the label is stored but does not count. The page makes one `key` per label, so
    that a label sent twice is stored once.
    """

    instance = models.ForeignKey(PoolInstance, models.PROTECT, related_name="judgments")
    assessor = models.ForeignKey(
        User, models.PROTECT, null=True, related_name="judgments", db_index=False
    )
    label = models.SmallIntegerField(help_text="A label value of the pool's scale.")
    comment = models.TextField(blank=True)
    reason = models.TextField(blank=True, help_text="Reason for changing the previous label.")
    marks = models.JSONField(
        default=list, blank=True, help_text="The passages of the item that decided the label."
    )
    active_ms = models.PositiveIntegerField(
        null=True,
        help_text="Milliseconds during which the page was visible and in use, at most what the "
        "server saw. Everything that adds up or compares times uses them.",
    )
    reported_ms = models.PositiveIntegerField(
        null=True, help_text="Milliseconds that the page reported; empty if it reported none."
    )
    guideline = models.ForeignKey(Guideline, models.PROTECT, null=True, related_name="judgments")
    key = models.UUIDField(unique=True)
    supersedes = models.ForeignKey(
        "self", models.PROTECT, null=True, blank=True, related_name="superseded_by"
    )
    is_current = models.BooleanField(default=True)
    is_imported = models.BooleanField(
        default=False, help_text="Whether the judgment was made outside ArqLab."
    )
    judged_at = models.DateTimeField()
    given_at = models.DateTimeField(
        null=True,
        help_text="Time of the judgment by the browser's clock, possibly long before it was sent.",
    )

    objects = models.Manager["Judgment"]()
    official = Official["Judgment"]("instance__item__assessor")

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
        indexes = [
            models.Index(fields=["assessor", "judged_at"], name="judgment_by_arrival"),
            # Few rows; `topic_tallies` asks whether others have joined or left them.
            models.Index(fields=["id"], condition=Q(is_current=False), name="judgment_retired"),
        ]

    def __str__(self) -> str:
        return f"{self.instance} {self.label}"

    @property
    def guidelines(self) -> int | None:
        """Return the version that was followed: 0 for the default text, None if it is unknown."""
        if self.guideline is None:
            return None if self.is_imported else 0
        return self.guideline.version

    @property
    def scale_label(self) -> ScaleLabel:
        """Return the label from the scale of its pool."""
        return self.instance.item.pool.label_scale.of(self.label)


class LateLabel(models.Model):
    """A label that came too late to count, until an organizer keeps it, with a reason."""

    class Cause(models.TextChoices):
        """Why the assessor could no longer judge the item."""

        ROLE = "role", "The assessor no longer has a role in the lab"
        TOPIC = "topic", "The topic is no longer assigned to the assessor"

    class Decision(models.TextChoices):
        """What an organizer decided about the label."""

        OPEN = "open", "Undecided"
        KEPT = "kept", "Kept"
        EXCLUDED = "excluded", "Excluded"

    judgment = models.OneToOneField(Judgment, models.PROTECT, related_name="late")
    cause = models.CharField(max_length=5, choices=Cause.choices)
    decision = models.CharField(max_length=8, choices=Decision.choices, default=Decision.OPEN)
    reason = models.TextField(blank=True, help_text="Why the label was kept or excluded.")
    decided_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    decided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
