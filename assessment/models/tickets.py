"""Tickets, items that assessors reported, and the policies for them."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from arqkit.labels import ScaleLabel
from arqlab.core.models import Lab, Task, Topic, User
from assessment.models.judgments import Judgment


class Ticket(models.Model):
    """An item that an assessor reported with a label that is not a judgment, and what they saw."""

    judgment = models.OneToOneField(Judgment, models.PROTECT, related_name="ticket")
    html = models.TextField(blank=True, help_text="The item's HTML as shown on the judging page.")
    browser = models.CharField(max_length=300, blank=True)
    raised_at = models.DateTimeField()
    answer = models.TextField(blank=True)
    answered_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    answered_at = models.DateTimeField(null=True, blank=True)
    expert = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    question = models.TextField(blank=True, help_text="What the organizers ask the expert.")
    sent_by = models.ForeignKey(
        User,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="Empty if the policy of the task sent it.",
    )
    sent_at = models.DateTimeField(null=True, blank=True)
    opinion = models.TextField(blank=True, help_text="The expert's answer, with its reason.")
    proposed_label = models.SmallIntegerField(
        null=True,
        blank=True,
        help_text="A label value of the pool's scale. It counts only if an adjudication takes it.",
    )
    advised_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        indexes = [
            models.Index(fields=["raised_at"], condition=Q(answered_at=None), name="ticket_open")
        ]

    def __str__(self) -> str:
        return f"Ticket {self.pk}"

    @property
    def state(self) -> str:
        """Return `answered`, `with-expert` or `open`; an expert's reply opens a ticket again."""
        if self.answered_at:
            return "answered"
        return "with-expert" if self.expert_id and not self.advised_at else "open"

    @property
    def proposal(self) -> ScaleLabel | None:
        """Return the label that the expert proposes, or None."""
        if self.proposed_label is None:
            return None
        return self.judgment.instance.item.pool.label_scale.of(self.proposed_label)

    @property
    def topic(self) -> Topic:
        """Return the topic of the reported item."""
        return self.judgment.instance.item.topic

    @property
    def lab(self) -> Lab:
        """Return the lab of the reported item."""
        return self.topic.task.lab


class TicketPolicy(models.Model):
    """What happens with labels (as text) that are not judgments; those without action wait."""

    class Action(models.TextChoices):
        """What happens when an assessor reports an item."""

        WAIT = "wait", "Leave unjudged, until an organizer answers"
        EXPERT = "expert", "Send to the expert"
        ANOTHER = "another", "Return to another assessor, once"

    task = models.OneToOneField(
        Task, models.CASCADE, primary_key=True, related_name="ticket_policy"
    )
    actions = models.JSONField(default=dict, blank=True)
    expert = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    expert_closes = models.BooleanField(
        default=False, help_text="The expert may answer the assessor and close the ticket."
    )

    def action_of(self, label: int) -> TicketPolicy.Action:
        """Return what happens with a label."""
        return TicketPolicy.Action(self.actions.get(str(label), TicketPolicy.Action.WAIT))
