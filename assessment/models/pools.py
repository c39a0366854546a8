"""Pools, and the rounds that have pools of their own.

A frozen pool never changes; supplements extend it.
"""

from __future__ import annotations

from typing import TypeVar

from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.utils.functional import cached_property

from arqkit.judgments.questions import SpecialQuestion
from arqkit.labels import LabelScale, scale_of_rows
from arqkit.records import ITEM_WORDS, ItemKind
from arqlab.core.models import Task, Topic, User
from arqlab.web import url_of
from assessment.models.kinds import KINDS, Opening, RoundKind, kind_choices, kinds_that
from assessment.models.qrels import QrelSet
from collection.models import VisualMap

M = TypeVar("M", bound=models.Model)


class Rounds(models.QuerySet["Round"]):
    """Rounds, to be searched for by what their kinds say."""

    def that(self, **facts: object) -> Rounds:
        """Return the rounds of the kinds with these facts (`kinds_that`)."""
        return self.filter(kind__in=kinds_that(**facts))

    def opened(self) -> Rounds:
        """Return the rounds whose labels organizers see, those that wait for an expert left out."""
        waiting = PoolItem.objects.filter(pool__round=OuterRef("pk"), done_at=None)
        at_once = Q(kind__in=kinds_that(opens=Opening.AT_ONCE))
        together = Q(kind__in=kinds_that(opens=Opening.TOGETHER)) & ~Exists(waiting)
        return self.filter(at_once | together | Q(revealed_at__isnull=False))


class Round(models.Model):
    """A round in which people judge items in addition to the official judging of a task.

    Its pool has a copy of each item for each of its assessors. Their labels never enter the qrels,
    except those of the adjudication, and second ones if the task adds two assessors' labels. In a
    round of special questions, an item has an instance for each question, and the labels of the
    pool are the answers.
    """

    task = models.ForeignKey(Task, models.CASCADE, related_name="rounds")
    kind = models.CharField(max_length=12, choices=kind_choices)
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

    objects = Rounds.as_manager()

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
    def rules(self) -> RoundKind:
        """Return what the kind of the round says."""
        return KINDS[self.kind]

    @property
    def address(self) -> str:
        """Return the address of the round's page: decisions have a list of their own."""
        args = [self.task.lab.slug, self.task.slug]
        if self.rules.decides:
            return url_of("adjudications", *args)
        return url_of("round", *args, self.key)

    @property
    def key(self) -> str:
        """Return the round's name in addresses and files."""
        return f"{self.kind}-{self.number}"

    @property
    def expert(self) -> int | None:
        """Return the key of the expert, with whom applicants are compared, or None."""
        expert: int | None = self.source.get("expert")
        return expert

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


class Official(models.Manager[M]):
    """The rows of the official round: those whose round, or whose assessor, is None."""

    def __init__(self, owner: str) -> None:
        super().__init__()
        self.owner = owner

    def get_queryset(self) -> models.QuerySet[M]:
        """Return the rows that belong to no other round, and so to no one."""
        return super().get_queryset().filter(**{self.owner: None})


class Pool(models.Model):
    """The items of a task to judge, as frozen (protocol §5), or the items of a round.

    `settings`, `seed`, `visual_map`, `inputs`, `left_out` and `runs` (each with its name, its depth
    and the hash of its index) are what the pool was made from: the same inputs give the same pool,
    byte for byte, and `sha256` is the hash of these bytes (`arqkit.pooling.pools.write_pool`). A
    late run or a new visual map needs a supplement.
    """

    task = models.ForeignKey(Task, models.PROTECT, related_name="pools")
    round = models.OneToOneField(
        Round,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="pool",
        help_text="The round of the items; empty for the official round.",
    )
    number = models.PositiveSmallIntegerField(
        help_text="1 for the pool, 2 and higher for its supplements."
    )
    reason = models.TextField(blank=True, help_text="Reason for the supplement.")
    preset = models.SlugField(max_length=40, blank=True)
    settings = models.JSONField(help_text="The fields of arqkit.protocols.presets.PoolProtocol.")
    scale = models.JSONField(
        help_text="The labels of the pool's items (arqkit.labels.LabelScale.rows)."
    )
    seed = models.BigIntegerField()
    inputs = models.JSONField(
        default=dict,
        help_text="Order of the runs; hashes of the collection and of the posts relevant in "
        "Task 1.",
    )
    runs = models.JSONField(help_text="The pooled runs: name, kind, depth, SHA-256 of the index.")
    left_out = models.JSONField(
        default=dict,
        blank=True,
        help_text="What organizers left out by hand: `runs` (run, team, tag, reason) and `topics` "
        "(topic, reason).",
    )
    visual_map = models.ForeignKey(
        VisualMap, models.PROTECT, null=True, blank=True, related_name="pools"
    )
    sha256 = models.CharField(max_length=64)
    crowded_items = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="Number of items with more pooled instances than are judged; empty if unknown.",
    )
    frozen_at = models.DateTimeField()
    frozen_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    closed_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="When judging was closed. A closed pool accepts no judgments.",
    )
    typeset_through = models.PositiveIntegerField(
        null=True,
        blank=True,
        default=0,
        help_text="Position up to which the formulas of the items are typeset; empty when all are.",
    )
    typeset_since = models.DateTimeField(
        null=True,
        blank=True,
        help_text="Time of the import of posts after which typesetting restarted.",
    )

    objects = models.Manager["Pool"]()
    official = Official["Pool"]("round")

    class Meta:
        ordering = ["task", "number"]
        constraints = [
            models.UniqueConstraint(
                fields=["task", "number"], condition=Q(round=None), name="pool_number_once_per_task"
            ),
            models.CheckConstraint(condition=Q(number__gte=1), name="pool_number_from_one"),
        ]

    def __str__(self) -> str:
        return f"{self.task} {self.round}" if self.round else f"{self.task} pool {self.number}"

    @cached_property
    def label_scale(self) -> LabelScale:
        """Return the scale of the pool's labels."""
        return scale_of_rows(self.scale)


class PoolItem(models.Model):
    """An item to judge: an answer post, a visually distinct formula, a Task 3 answer or a
    document.

    `position` is its place in the seeded random order of the topic. In a round, each assessor has
    a copy of the item; the copies have the same topic, position and `item`. An item is completed
    when each of its instances has a judgment. It is leased while an assessor has it on the page;
    when the lease ends, others can take it. An item without `leased_until` is not leased; if its
    assessor skipped it, `leased_to` still names them.
    """

    class Kind(models.TextChoices):
        """The kind of item; a Task 1 pool may contain Task 3 answers too."""

        POSTS = ItemKind.POSTS.value, ITEM_WORDS[ItemKind.POSTS].one
        VISUAL_IDS = ItemKind.VISUAL_IDS.value, ITEM_WORDS[ItemKind.VISUAL_IDS].one
        ANSWERS = ItemKind.ANSWERS.value, ITEM_WORDS[ItemKind.ANSWERS].one
        DOCUMENTS = ItemKind.DOCUMENTS.value, ITEM_WORDS[ItemKind.DOCUMENTS].one

    pool = models.ForeignKey(Pool, models.CASCADE, related_name="items", db_index=False)
    topic = models.ForeignKey(Topic, models.PROTECT, related_name="pool_items", db_index=False)
    assessor = models.ForeignKey(
        User,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="round_items",
        db_index=False,
        help_text="The only one who judges the item of a round; empty for official items, which "
        "those judge to whom the topic is assigned.",
    )
    kind = models.CharField(max_length=12, choices=Kind.choices)
    item = models.CharField(max_length=300, help_text="A post id, a visual id, or RUN:TOPIC.")
    position = models.PositiveIntegerField()
    text = models.TextField(blank=True, help_text="A generated answer, as in the run.")
    done_at = models.DateTimeField(null=True)
    later_at = models.DateTimeField(
        null=True, help_text="When an assessor skipped the item, which then comes after all others."
    )
    leased_to = models.ForeignKey(
        User, models.SET_NULL, null=True, related_name="+", db_index=False
    )
    leased_since = models.DateTimeField(
        null=True,
        help_text="When `leased_to` got the item; a lease that is renewed keeps its beginning.",
    )
    leased_until = models.DateTimeField(null=True)
    kept_from = models.ForeignKey(
        User,
        models.SET_NULL,
        null=True,
        related_name="+",
        db_index=False,
        help_text="Assessor who reported the item, which then returned for another assessor.",
    )

    objects = models.Manager["PoolItem"]()
    official = Official["PoolItem"]("assessor")

    class Meta:
        ordering = ["pool_id", "topic_id", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["pool", "topic", "item"],
                condition=Q(assessor=None),
                name="item_once_per_pool",
            ),
            models.UniqueConstraint(
                fields=["topic", "pool", "position"],
                condition=Q(assessor=None),
                name="position_once_per_pool",
            ),
            models.UniqueConstraint(
                fields=["pool", "assessor", "topic", "item"],
                condition=Q(assessor__isnull=False),
                name="item_once_per_assessor",
            ),
            models.UniqueConstraint(
                fields=["topic", "assessor", "pool", "position"],
                condition=Q(assessor__isnull=False),
                name="position_once_per_assessor",
            ),
        ]
        indexes = [
            models.Index(
                fields=["topic", "pool", "position"],
                condition=Q(done_at=None, later_at=None),
                name="pool_item_waiting",
            )
        ]

    def __str__(self) -> str:
        return f"{self.topic} {self.item}"


class PoolInstance(models.Model):
    """The unit that gets one label: a post, a Task 3 answer, or an instance of a formula.

    `doc_id` is the id in qrels: post id, formula id, or RUN:TOPIC. `post_id` is the post that
    contains the instance, blank for a Task 3 answer. It is not a foreign key, because the
    collection may be loaded again with more or corrected posts.
    """

    item = models.ForeignKey(PoolItem, models.CASCADE, related_name="instances", db_index=False)
    doc_id = models.CharField(max_length=300)
    position = models.PositiveSmallIntegerField(default=0, help_text="Order on the judging page.")
    post_id = models.CharField(max_length=300, blank=True)

    objects = models.Manager["PoolInstance"]()
    official = Official["PoolInstance"]("item__assessor")

    class Meta:
        ordering = ["item_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["item", "doc_id"], name="instance_once_per_item"),
            models.UniqueConstraint(
                fields=["item", "position"], name="instance_position_once_per_item"
            ),
        ]

    def __str__(self) -> str:
        return self.doc_id
