"""Qrels from judgments: instances or visual ids, official or complete, without dropped topics.

See protocol §6 and §7. The functions read a frame with one row for each label that a pool asks for:
topic, item (what an assessor sees as one item: a post, a visual id or a generated answer), doc_id
(the id in qrels of instances) and label, which is null until the item is judged. The scale
tells which labels are not judgments.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple, Self

import polars as pl

from arqkit.formulas.visual_ids import highest_labels
from arqkit.labels import LabelScale
from arqkit.records import ItemKind, TaskKind
from arqkit.topics import natural_key, topic_order

JUDGED_SCHEMA = {"topic": pl.String, "item": pl.String, "doc_id": pl.String, "label": pl.Int8}


class QrelDiff(NamedTuple):
    """The lines that differ between two qrels, and the topics that only one of them has.

    `rows` has the columns topic, item, change (added, removed or changed), before and after. The
    last two are labels, or null on the side where the line is missing. Rows are sorted by topic and
    item.
    """

    rows: pl.DataFrame
    topics_added: list[str]
    topics_removed: list[str]

    @property
    def counts(self) -> dict[str, int]:
        """Return the number of added, removed and changed lines."""
        counted = dict(self.rows.group_by("change").len().iter_rows())
        return {change: counted.get(change, 0) for change in ("added", "removed", "changed")}

    @property
    def steps(self) -> dict[tuple[int | None, int | None], int]:
        """Return the number of lines for each pair of labels (before, after).

        None stands for a missing line.
        """
        counted = self.rows.group_by("before", "after").len().iter_rows()
        return {(before, after): count for before, after, count in counted}


def diff_qrels(before: pl.DataFrame, after: pl.DataFrame) -> QrelDiff:
    """Return the differences between two qrels (topic, item, label) with the same kind of items."""
    both = before.rename({"label": "before"}).join(
        after.rename({"label": "after"}), on=["topic", "item"], how="full", coalesce=True
    )
    differs = both.filter(pl.col("before").ne_missing(pl.col("after")))
    change = (
        pl.when(pl.col("before").is_null())
        .then(pl.lit("added"))
        .when(pl.col("after").is_null())
        .then(pl.lit("removed"))
        .otherwise(pl.lit("changed"))
        .alias("change")
    )
    ordered = differs.sort(pl.col("topic").cast(topic_order(differs["topic"].unique())), "item")
    rows = ordered.select("topic", "item", change, "before", "after")
    old, new = set(before["topic"]), set(after["topic"])
    return QrelDiff(rows, sorted(new - old, key=natural_key), sorted(old - new, key=natural_key))


class Level(StrEnum):
    """The level of formula qrels: one line per instance, or one per visually distinct formula."""

    INSTANCES = "instances"
    VISUAL = "visual"


@dataclass(frozen=True, slots=True)
class JudgedTopic:
    """The progress of a topic in a pool: the required labels, and the count of each label.

    `relevant` counts items; a visually distinct formula counts once, however many of its instances
    are relevant. `reason` explains why the topic is dropped, and is empty if it is kept.
    """

    topic: str
    total: int
    labelled: int
    labels: Mapping[int, int]
    relevant: int
    reason: str = ""


class Range(NamedTuple):
    """The least and most of the numbers of some topics, and their mean."""

    least: int
    most: int
    mean: float

    @classmethod
    def of(cls, numbers: Sequence[int]) -> Self:
        """Return the range of one number or more."""
        return cls(min(numbers), max(numbers), sum(numbers) / len(numbers))


class LabelledTopics(NamedTuple):
    """The topics of qrels: the judged items per topic, and those above the lowest label."""

    judged: Mapping[str, int]
    positive: Mapping[str, int]

    @classmethod
    def of(cls, topics: Iterable[JudgedTopic], scale: LabelScale) -> Self:
        """Count the labels of topics that are judgments."""
        *above, lowest = sorted((label.value for label in scale.judgments), reverse=True)
        judged, positive = {}, {}
        for topic in topics:
            positive[topic.topic] = sum(topic.labels[value] for value in above)
            judged[topic.topic] = positive[topic.topic] + topic.labels[lowest]
        return cls(judged, positive)


def qrels_item_kind(kind: TaskKind, level: Level) -> ItemKind:
    """Return the kind of item in a task's qrels at a level; only formulas have two levels."""
    if kind == TaskKind.FORMULAS:
        return ItemKind.VISUAL_IDS if level == Level.VISUAL else ItemKind.FORMULA_IDS
    items = {TaskKind.GENERATED_ANSWERS: ItemKind.ANSWERS, TaskKind.DOCUMENTS: ItemKind.DOCUMENTS}
    return items.get(kind, ItemKind.POSTS)


def judged_topics(
    judged: pl.DataFrame, *, scale: LabelScale, relevant_from: int, min_relevant: int
) -> list[JudgedTopic]:
    """Return the progress of each topic, in topic order, and why a topic is dropped.

    A topic is dropped if it has no judgment or fewer relevant items than `min_relevant`: with one
    item, MAP' is too coarse for ARQMath (004 §4.4), and NTCIR keeps all topics. A formula is
    relevant if any of its instances is, so both levels of qrels have the same topics.
    """
    labels = {
        (topic, label): count
        for topic, label, count in judged.group_by("topic", "label").len().iter_rows()
    }
    labelled = judged.drop_nulls("label").select("topic", "item", "label")
    highest = highest_labels(labelled, scale)
    good = highest.filter(scale.is_judged() & (pl.col("label") >= relevant_from))
    relevant = dict(good.group_by("topic").len().iter_rows())
    totals = dict(judged.group_by("topic").len().iter_rows())
    topics = [
        JudgedTopic(
            topic,
            totals[topic],
            labelled=sum(labels.get((topic, label), 0) for label in scale.values),
            labels={label: labels.get((topic, label), 0) for label in scale.values},
            relevant=relevant.get(topic, 0),
        )
        for topic in sorted(totals, key=natural_key)
    ]
    return [replace(topic, reason=_reason(topic, scale, min_relevant)) for topic in topics]


def make_qrels(
    judged: pl.DataFrame, *, scale: LabelScale, level: Level, complete: bool, dropped: Iterable[str]
) -> pl.DataFrame:
    """Return qrels (topic, item, label), sorted by topic and item, without the topics in `dropped`.

    At the visual level, a formula gets the highest label of its judged instances. Official qrels
    hold judgments only; complete qrels hold all labels.
    """
    rows = judged.drop_nulls("label").filter(~pl.col("topic").is_in(list(dropped)))
    if level == Level.VISUAL:
        qrels = highest_labels(rows.select("topic", "item", "label"), scale)
    else:
        qrels = rows.select("topic", "label", item="doc_id")
    listed = qrels if complete else qrels.filter(scale.is_judged())
    ordered = listed.sort(pl.col("topic").cast(topic_order(listed["topic"].unique())), "item")
    return ordered.select("topic", "item", "label")


def _reason(topic: JudgedTopic, scale: LabelScale, min_relevant: int) -> str:
    if not topic.labelled:
        return "No item of this topic has a label."
    if topic.relevant < min_relevant:
        items = f"{topic.relevant or 'no'} relevant item{'s' * (topic.relevant != 1)}"
        return f"This topic has {items}; qrels need at least {min_relevant}."
    if not any(topic.labels[label.value] for label in scale.judgments):
        return "No label of this topic is a judgment."
    return ""
