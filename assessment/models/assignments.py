"""Assignments of topics to assessors, with rosters, bids and plans."""

from django.db import models
from django.db.models import Q

from arqlab.core.models import Task, Topic, User


class RosterEntry(models.Model):
    """An assessor on the roster of a task, with the hours that they offer.

    Assessors with assigned topics are on the roster without an entry, too
    (`assessment.assignments.selectors.roster`).
    """

    task = models.ForeignKey(Task, models.CASCADE, related_name="roster")
    user = models.ForeignKey(User, models.CASCADE, related_name="roster_entries")
    hours = models.FloatField(
        null=True, blank=True, help_text="Hours offered for the task; empty if not given."
    )
    note = models.TextField(blank=True, help_text="What the assessor wants organizers to know.")
    group = models.CharField(
        max_length=40, blank=True, help_text="Such as undergraduates, to compare groups (003 §4)."
    )
    added_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    added_at = models.DateTimeField()
    invited_at = models.DateTimeField(
        null=True, blank=True, help_text="When the assessor was last invited to mark topics."
    )

    class Meta:
        ordering = ["task", "pk"]
        verbose_name_plural = "roster entries"
        constraints = [
            models.UniqueConstraint(fields=["task", "user"], name="person_once_on_a_roster"),
            models.CheckConstraint(condition=Q(hours__gte=0), name="offered_hours_not_negative"),
        ]


class TopicBid(models.Model):
    """How much an assessor wants to judge a topic. No row means that they did not say.

    Only the assessor and the organizers see it.
    """

    class Choice(models.TextChoices):
        """The values of arqkit.judgments.assignment_plan.Preference."""

        GLADLY = "gladly", "Gladly"
        IF_NEEDED = "if-needed", "If needed"
        NO = "no", "No"

    topic = models.ForeignKey(Topic, models.CASCADE, related_name="bids")
    user = models.ForeignKey(User, models.CASCADE, related_name="topic_bids")
    choice = models.CharField(max_length=10, choices=Choice.choices)
    changed_at = models.DateTimeField()

    class Meta:
        ordering = ["topic", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["topic", "user"], name="bid_once_for_a_topic")
        ]


class SecondPlan(models.Model):
    """The assessor who is to judge a topic a second time, in a round of second judgments."""

    topic = models.OneToOneField(Topic, models.CASCADE, related_name="second_plan")
    assessor = models.ForeignKey(User, models.CASCADE, related_name="second_plans")
    planned_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    planned_at = models.DateTimeField()

    class Meta:
        ordering = ["topic"]


class Assignment(models.Model):
    """The assignment of a topic, with its items in all open pools of the task, to an assessor.

    A removed assignment is kept with its end; labels stay with the items. Two assessors of one
    topic share its items, and each item is judged once.
    """

    topic = models.ForeignKey(Topic, models.PROTECT, related_name="assignments")
    assessor = models.ForeignKey(User, models.PROTECT, related_name="assignments")
    assigned_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    assigned_at = models.DateTimeField()
    reviewed_since = models.DateTimeField(
        null=True,
        blank=True,
        help_text="Start of the review of the finished topic, if it is in review.",
    )
    ended_at = models.DateTimeField(null=True, blank=True)
    trip_until = models.DateTimeField(
        null=True, blank=True, help_text="When the last offline trip ends, if not earlier by hand."
    )

    class Meta:
        ordering = ["topic", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["topic", "assessor"],
                condition=Q(ended_at=None),
                name="topic_assigned_once_to_a_person",
            )
        ]
        indexes = [
            models.Index(fields=["assessor"], condition=Q(ended_at=None), name="assignment_open")
        ]


class SetAsideTopic(models.Model):
    """A topic that organizers set aside because it will probably be dropped.

    Its items stay open and keep their labels, so that judging can be resumed at any time. `judged`,
    `relevant` and `probability` are what the organizer knew.
    """

    topic = models.ForeignKey(Topic, models.CASCADE, related_name="set_aside")
    judged = models.PositiveIntegerField(help_text="Items judged when the topic was set aside.")
    relevant = models.PositiveIntegerField(help_text="Relevant items among them.")
    probability = models.FloatField(
        help_text="Probability that the topic would have been kept (arqkit.judgments.completion)."
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
