"""Disagreements of official and second judgments, and the decisions about them."""

from typing import NamedTuple, TypedDict

import polars as pl
from django.db.models import Q, QuerySet

from arqkit.agreement.votes import disagreements, judgments_only
from arqkit.labels import ScaleLabel
from arqkit.topics import topic_order
from arqlab.core.models import AuditEvent, Task, User
from assessment.assignments.selectors.grid import judging_staff
from assessment.models import Judgment, PoolInstance, PoolItem, Round, Ticket
from assessment.models.kinds import Comparison
from assessment.qrels.selectors.drafts import task_scale
from assessment.qrels.selectors.frames import judgment_frame, official_judgments, second_judgments
from assessment.rounds.selectors.rounds import letters_at
from assessment.tickets.selectors import proposed_labels

OPEN, ASKED, DECIDED = "open", "third opinion", "decided"
_RULED = {"topic": pl.String, "doc_id": pl.String, "decision": pl.Int8, "is_asked": pl.Boolean}
_KEY = pl.concat_str("topic", "doc_id", separator="\t").alias("item")


class Opinion(NamedTuple):
    """A label that an assessor gave to an instance, or an expert proposes, without their name.

    The letter names the marks of the judgment in the post.
    """

    letter: str
    name: str
    label: ScaleLabel
    comment: str
    judgment: Judgment | None


class Proposal(NamedTuple):
    """A label that an expert proposes for a reported item, and the official label."""

    ticket: Ticket
    label: ScaleLabel
    official: ScaleLabel | None


class QueuedInstance(TypedDict):
    """An official instance and label whose second labels differ.

    `state` is `OPEN`, `ASKED` or `DECIDED`; the page adds the `effect` on the leaderboard.
    """

    topic: str
    doc_id: str
    instance: int
    first: int
    seconds: list[int]
    spread: int
    is_binary: bool
    decision: int | None
    state: str
    effect: float | None


class Adjudication(NamedTuple):
    """The state of the adjudication of an instance.

    - decision: the label that counts, or None.
    - asked: the assessor who is asked for a third opinion, or None.
    - history: all labels, the newest first.
    - withdrawals: the audit events of withdrawn decisions, the newest first.
    """

    decision: Judgment | None
    asked: User | None
    history: list[Judgment]
    withdrawals: list[AuditEvent]


def disagreement_queue(task: Task) -> pl.DataFrame:
    """Return the instances whose official and second labels differ, largest difference first.

    The rows are `QueuedInstance`. Labels that are not judgments are left out.
    """
    scale = task_scale(task)
    first = judgment_frame(official_judgments(task), "topic", "doc_id", "instance", "label")
    second = _second_labels(task)
    second = judgments_only(second.join(first, on=["topic", "doc_id"], how="semi"), scale)
    second = second.with_columns(_KEY)
    official = judgments_only(first, scale).with_columns(_KEY, assessor=pl.lit("first"))
    votes = pl.concat([frame.select("item", "assessor", "label") for frame in (official, second)])
    compared = disagreements(votes, relevant_from=task.protocol.relevant_in(scale))
    seconds = second.sort("assessor").group_by("item").agg(seconds="label")
    rows = (
        compared.select("item", "spread", "is_binary")
        .join(official.rename({"label": "first"}), on="item", maintain_order="left")
        .join(seconds, on="item", maintain_order="left")
        .join(_rulings(task), on=["topic", "doc_id"], how="left", maintain_order="left")
    )
    state = (
        pl.when(pl.col("decision").is_not_null())
        .then(pl.lit(DECIDED))
        .when("is_asked")
        .then(pl.lit(ASKED))
        .otherwise(pl.lit(OPEN))
    )
    columns = ("topic", "doc_id", "instance", "first", "seconds", "spread", "is_binary")
    ordered = rows.with_columns(state=state).sort(
        "spread",
        "is_binary",
        pl.col("topic").cast(topic_order(rows["topic"].unique())),
        "doc_id",
        descending=[True, True, False, False],
    )
    return ordered.select(*columns, "decision", "state")


def opinions_of(task: Task, instance: PoolInstance) -> list[Opinion]:
    """Return the current labels of an official instance: official, second, proposed by experts."""
    scale = task_scale(task)
    first = Judgment.objects.filter(instance=instance, is_current=True)
    second = second_judgments(task).filter(
        instance__doc_id=instance.doc_id, instance__item__topic=instance.item.topic_id
    )
    second = second.order_by("instance__item__pool__round__number", "pk")
    named = [("Official judgment", judgment) for judgment in first]
    named += [("Second judgment", judgment) for judgment in second]
    opinions = [
        Opinion(letters_at(place), name, scale.of(judgment.label), judgment.comment, judgment)
        for place, (name, judgment) in enumerate(named)
    ]
    return opinions + [
        Opinion("", "Expert", scale.of(ticket.proposed_label or 0), ticket.opinion, None)
        for ticket in proposed_labels(task).filter(judgment__instance=instance)
    ]


def open_proposals(task: Task) -> list[Proposal]:
    """Return the labels that experts propose, without those that are decided or already official.

    The last proposal for an instance replaces earlier ones.
    """
    scale, proposed = task_scale(task), proposed_labels(task)
    tickets = {ticket.judgment.instance_id: ticket for ticket in proposed.order_by("pk")}
    if not tickets:
        return []
    current = Judgment.official.filter(is_current=True, instance__in=tickets)
    official = dict(current.values_list("instance", "label"))
    rulings = _rulings(task).filter(pl.col("decision").is_not_null())
    decided = set(rulings.select("topic", "doc_id").iter_rows())
    return [
        Proposal(
            ticket,
            scale.of(ticket.proposed_label or 0),
            scale.of(official[key]) if key in official else None,
        )
        for key, ticket in tickets.items()
        if official.get(key) != ticket.proposed_label
        and (ticket.judgment.instance.item.topic.query_id, ticket.judgment.instance.doc_id)
        not in decided
    ]


def adjudication_of(task: Task, instance: PoolInstance) -> Adjudication:
    """Return the state of the adjudication of an official instance."""
    copy = PoolInstance.objects.filter(
        doc_id=instance.doc_id,
        item__topic=instance.item.topic_id,
        item__pool__round__in=_deciding(task),
    )
    adjudicated = copy.select_related("item__assessor").first()
    if adjudicated is None:
        return Adjudication(None, None, [], [])
    judgments = adjudicated.judgments.select_related("assessor", "guideline").order_by("-pk")
    history = list(judgments)
    current = next((judgment for judgment in history if judgment.is_current), None)
    is_asked = current is None and adjudicated.item.done_at is None
    withdrawals = task.lab.audit_events.filter(
        verb="adjudication.withdraw", detail__instance=instance.pk
    ).select_related("actor")
    return Adjudication(
        current, adjudicated.item.assessor if is_asked else None, history, list(withdrawals)
    )


def third_assessors(task: Task, instance: PoolInstance) -> QuerySet[User]:
    """Return who may give a third opinion: assessors of the lab who never judged the item."""
    judged = Judgment.objects.filter(
        instance__item__topic=instance.item.topic_id, instance__item__item=instance.item.item
    ).exclude(instance__item__pool__round__in=_deciding(task))
    again = Round.objects.filter(task=task).that(compares=Comparison.OFFICIAL)
    having = PoolItem.objects.filter(
        topic=instance.item.topic_id, item=instance.item.item, pool__round__in=again
    )
    return judging_staff(task.lab).exclude(
        Q(pk__in=judged.filter(assessor__isnull=False).values("assessor"))
        | Q(pk__in=having.values("assessor"))
    )


def _deciding(task: Task) -> QuerySet[Round]:
    return Round.objects.filter(task=task).that(decides=True)


def _second_labels(task: Task) -> pl.DataFrame:
    columns = ("topic", "doc_id", "pool", "assessor", "label")
    rows = judgment_frame(second_judgments(task).order_by(), *columns)
    place = pl.col("pool").cast(pl.String).str.zfill(9)
    return rows.with_columns(assessor=pl.format("{} {}", place, "assessor")).drop("pool")


def _rulings(task: Task) -> pl.DataFrame:
    copies = PoolInstance.objects.filter(item__pool__round__in=_deciding(task))
    decided = dict(
        Judgment.objects.filter(is_current=True, instance__in=copies).values_list(
            "instance", "label"
        )
    )
    fields = ("pk", "item__topic__query_id", "doc_id", "item__done_at")
    rows = [
        (topic, doc_id, decided.get(pk), done_at is None)
        for pk, topic, doc_id, done_at in copies.order_by().values_list(*fields)
    ]
    return pl.DataFrame(rows, schema=_RULED, orient="row")
