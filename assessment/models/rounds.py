"""Rounds of judging beside the official one (docs/adr/0025)."""

from __future__ import annotations

from django.db import models

from arqkit.judgments.questions import SpecialQuestion
from arqlab.core.models import Task, User
from assessment.models.qrels import QrelSet


class Round(models.Model):
    """A round in which people judge items beside the official judging of a task.

    Its pool has a copy of each item for each of its assessors. Their labels never reach the qrels,
    except those of the adjudication. In a round of special questions, an item has an instance for
    each question, and the labels of the pool are the answers.
    """

    class Kind(models.TextChoices):
        """The purpose of a round (protocol §6)."""

        TRAINING = "training", "Training"
        SAMPLE = "sample", "Sample task"
        SECOND = "second", "Second judgments"
        ADJUDICATION = "adjudication", "Adjudication"
        QUESTIONS = "questions", "Special questions"

    task = models.ForeignKey(Task, models.CASCADE, related_name="rounds")
    kind = models.CharField(max_length=12, choices=Kind.choices)
    number = models.PositiveSmallIntegerField(help_text="Number among the rounds of the kind.")
    title = models.CharField(max_length=100, blank=True)
    note = models.TextField(blank=True, help_text="What the organizers tell the assessors.")
    source = models.JSONField(default=dict, help_text="How the items were chosen, with the seed.")
    gold = models.ForeignKey(
        QrelSet,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="rounds",
        help_text="Qrels with labels of an earlier lab for the items.",
    )
    made_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    made_at = models.DateTimeField()
    revealed_at = models.DateTimeField(
        null=True, blank=True, help_text="When the votes were shown to the assessors."
    )
    archived_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="When organizers put the round away; nothing of it is lost.",
    )
    token = models.CharField(  # many rounds have none, and those that have differ
        max_length=64,
        unique=True,
        null=True,
        blank=True,
        help_text="Token of the link to a sample task; empty while the link is closed.",
    )

    class Meta:
        ordering = ["task", "kind", "number"]
        constraints = [
            models.UniqueConstraint(
                fields=["task", "kind", "number"], name="round_number_once_per_kind"
            ),
            models.UniqueConstraint(
                fields=["task"],
                condition=models.Q(kind="adjudication"),
                name="one_adjudication_per_task",
            ),
        ]

    def __str__(self) -> str:
        return self.title or f"{self.get_kind_display()} {self.number}"

    @property
    def key(self) -> str:
        """Return the round's name in addresses and files."""
        return f"{self.kind}-{self.number}"

    @property
    def questions(self) -> tuple[SpecialQuestion, ...]:
        """Return the special questions of the round; rounds of other kinds have none."""
        return tuple(SpecialQuestion(**row) for row in self.source.get("questions", ()))


class Applicant(models.Model):
    """Someone who judges a sample task to become an assessor, and how the expert rates them."""

    class Decision(models.TextChoices):
        """What the organizers decided about an applicant."""

        OPEN = "open", "Undecided"
        ACCEPTED = "accepted", "Accepted as assessor"
        DECLINED = "declined", "Declined"

    round = models.ForeignKey(Round, models.CASCADE, related_name="applicants")
    user = models.ForeignKey(User, models.PROTECT, related_name="applications")
    applied_at = models.DateTimeField()
    score = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="The expert's score, from 0 to 100."
    )
    note = models.TextField(blank=True, help_text="Not shown to the applicant.")
    decision = models.CharField(max_length=8, choices=Decision.choices, default=Decision.OPEN)
    decided_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    decided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["round", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["round", "user"], name="applicant_once_per_round"),
            models.CheckConstraint(
                condition=models.Q(score=None) | models.Q(score__lte=100),
                name="applicant_score_to_100",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.round}"
