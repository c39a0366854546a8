"""The disagreements of a round, in the order of a meeting, and the votes on one of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from django.db.models import QuerySet

from arqkit.agreement.disagreements import disagreements
from arqkit.agreement.votes import judgments_only
from arqkit.labels import ScaleLabel
from assessment.models import GuidelineEntry, Judgment, PoolInstance, Round
from assessment.rounds.selectors.training_votes import (
    GOLD,
    SEPARATOR,
    agreement_votes,
    gold_labels,
)


class Disagreement(NamedTuple):
    """An item with different labels: its topic, its id in qrels, and its extreme labels.

    Pages show its position in the topic: the id of a generated answer names its run.
    """

    topic: str
    doc_id: str
    position: int
    votes: int
    lowest: ScaleLabel
    highest: ScaleLabel
    is_binary: bool


class MeetingVote(NamedTuple):
    """A vote as a meeting shows it: by a pseudonym. Gold labels have no seconds and no judgment."""

    name: str
    label: ScaleLabel
    comment: str = ""
    seconds: float | None = None
    judgment: Judgment | None = None

    @property
    def letter(self) -> str:
        """Return the letter of a pseudonym: A for Assessor A and You (Assessor A)."""
        return self.name.removesuffix(")").rpartition(" ")[2]


def meeting_items(found: Round) -> list[Disagreement]:
    """Return the disagreements of a round, the largest first; labels that judge only."""
    scale = found.pool.label_scale
    votes = judgments_only(agreement_votes(found), scale)
    rows = disagreements(votes, relevant_from=found.task.protocol.relevant_from)
    copies = PoolInstance.objects.filter(item__pool=found.pool).order_by()
    positions = {
        (topic, doc_id): position
        for topic, doc_id, position in copies.values_list(
            "item__topic__query_id", "doc_id", "item__position"
        )
    }
    keys = [tuple(key.split(SEPARATOR, 1)) for key in rows["item"]]
    return [
        Disagreement(
            topic,
            doc_id,
            positions[topic, doc_id],
            row["votes"],
            scale.of(row["lowest"]),
            scale.of(row["highest"]),
            row["is_binary"],
        )
        for (topic, doc_id), row in zip(keys, rows.iter_rows(named=True), strict=True)
    ]


def meeting_votes(
    found: Round, topic: str, doc_id: str, names: Mapping[str, str]
) -> list[MeetingVote]:
    """Return the votes on an item in the order of the names; `names` has one for each assessor."""
    scale = found.pool.label_scale
    judged = Judgment.objects.filter(
        instance__item__pool=found.pool,
        instance__item__topic__query_id=topic,
        instance__doc_id=doc_id,
        is_current=True,
    )
    votes = {
        str(one.assessor_id): MeetingVote(
            names[str(one.assessor_id)],
            scale.of(one.label),
            one.comment,
            None if one.active_ms is None else one.active_ms / 1000,
            one,
        )
        for one in judged
    }
    gold = gold_labels(found).get((topic, doc_id))
    if gold is not None:
        votes[GOLD] = MeetingVote(names[GOLD], scale.of(gold))
    return [votes[key] for key in names if key in votes]


def meeting_instance(found: Round, topic: str, doc_id: str) -> PoolInstance:
    """Return an instance of an item, from the copy of any assessor."""
    copies = PoolInstance.objects.filter(
        item__pool=found.pool, item__topic__query_id=topic, doc_id=doc_id
    )
    return copies.select_related("item__topic__task__lab").order_by("pk")[0]


def recorded_cases(found: Round, topic: str, doc_id: str) -> QuerySet[GuidelineEntry]:
    """Return the cases that were recorded for an item, in any meeting of the task."""
    cases = GuidelineEntry.objects.filter(task=found.task, kind=GuidelineEntry.Kind.CASE)
    return cases.filter(topic=topic, item=doc_id).order_by("pk")
