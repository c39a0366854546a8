"""Topics whose judging organizers stopped before all items were judged."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from arqlab.core.models import Topic, User


class SetAsideTopic(models.Model):
    """A topic that organizers set aside because it will probably be dropped.

    Its items stay open and keep their labels, so that judging can be resumed at any time. `judged`,
    `relevant` and `probability` are what the organizer knew.
    """

    topic = models.ForeignKey(Topic, models.CASCADE, related_name="set_aside")
    judged = models.PositiveIntegerField(help_text="Items judged when the topic was set aside.")
    relevant = models.PositiveIntegerField(help_text="Relevant items among them.")
    probability = models.FloatField(
        help_text="Probability that the topic would have been kept (arqkit.judgments.viability)."
    )
    set_aside_at = models.DateTimeField()
    set_aside_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["topic", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["topic"], condition=Q(ended_at=None), name="topic_set_aside_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.topic} set aside"
