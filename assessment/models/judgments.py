"""Judgments, with guidelines, dismissed findings, time sheets and viability estimates.

Rows of judgments are only added: a new label supersedes the previous row.
"""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from arqkit.judgments.radar import FindingKind
from arqkit.labels import LARGEST_VALUE, ScaleLabel
from arqlab.core.models import Lab, Task, Topic, User
from assessment.models.pools import Official, PoolInstance


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


class PayRule(models.Model):
    """The hourly rate of a lab's assessors and the time zone in which their days begin."""

    lab = models.OneToOneField(Lab, models.CASCADE, related_name="pay_rule")
    hourly_rate = models.DecimalField(max_digits=9, decimal_places=2, null=True, blank=True)
    currency = models.CharField(max_length=10, blank=True)
    time_zone = models.CharField(
        max_length=64, default="UTC", help_text="A name of the time zone database."
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(hourly_rate__isnull=True) | Q(hourly_rate__gte=0),
                name="hourly_rate_not_negative",
            )
        ]

    @classmethod
    def of(cls, lab: Lab) -> PayRule:
        """Return what a lab pays, or an empty rule that is not stored."""
        return cls.objects.filter(lab=lab).first() or cls(lab=lab)


class DismissedFinding(models.Model):
    """A finding that an organizer dismissed with a note; it may have been reopened since.

    Findings are computed from the judgments. `key` names one of them, and `summary` keeps what it
    said (arqkit.judgments.radar).
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
                fields=["task", "key"], condition=Q(reopened_at=None), name="finding_dismissed_once"
            )
        ]


class DuplicatePosts(models.Model):
    """The posts in a task's pools with the same text: pairs of the first id and all instances."""

    task = models.OneToOneField(Task, models.CASCADE, related_name="duplicate_posts")
    groups = models.JSONField(default=list)
    found_at = models.DateTimeField()


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
