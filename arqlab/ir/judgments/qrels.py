"""Qrels out of judgments: instances or visually distinct formulas, official or complete, dropped
topics (protocol §6, §7).

Judged rows are a frame of what a pool holds, one row for each thing that gets a label: topic, item
(what an assessor gets at once: a post, a visual id, a written answer), doc_id (what stands in qrels
of instances) and label, null where nothing is judged yet. 5 and 6 are labels that say that it was
not judged.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

import polars as pl

from arqlab.ir.formulas.visual_ids import highest_labels
from arqlab.ir.labels import NOT_JUDGMENTS
from arqlab.ir.records import ItemKind, TaskKind
from arqlab.ir.topics import natural_key, topic_order

LEAST_RELEVANT = 2
"""A topic with fewer relevant items is dropped: one item alone makes the steps of MAP' too coarse
(004 §4.4).
"""

JUDGED_SCHEMA = {"topic": pl.String, "item": pl.String, "doc_id": pl.String, "label": pl.Int8}


class Level(StrEnum):
    """What a line of formula qrels is about: an instance, or a visually distinct formula."""

    INSTANCES = "instances"
    VISUAL = "visual"


@dataclass(frozen=True, slots=True)
class JudgedTopic:
    """How far a topic of a pool is: what it holds, what has a label, how often each label was
    given.

    `relevant` counts items: of a visually distinct formula one, however many of its instances are
    relevant. `reason` says why the topic is dropped; it is empty for one that stays.
    """

    topic: str
    total: int
    labelled: int
    labels: Mapping[int, int]
    relevant: int
    reason: str = ""


def labels_in_order(scale: tuple[int, int]) -> list[int]:
    """Return the labels of a task in the order in which they stand everywhere: the highest first,
    then 5 and 6.
    """
    lowest, highest = scale
    return [*range(highest, lowest - 1, -1), *NOT_JUDGMENTS]


def qrels_item_kind(kind: TaskKind, level: Level) -> ItemKind:
    """Return what the items of a task's qrels are at a level; only formulas have two levels."""
    if kind == TaskKind.FORMULAS:
        return ItemKind.VISUAL_IDS if level == Level.VISUAL else ItemKind.FORMULA_IDS
    return ItemKind.ANSWERS if kind == TaskKind.WRITTEN_ANSWERS else ItemKind.POSTS


def judged_topics(judged: pl.DataFrame, *, relevant_from: int) -> list[JudgedTopic]:
    """Count the judged rows by topic, in the topics' order, and say which topics are to be dropped
    and why.

    A formula is relevant when one of its instances is: both levels of qrels have the same topics.
    """
    labels = {
        (topic, label): count
        for topic, label, count in judged.group_by("topic", "label").len().iter_rows()
    }
    known = judged.drop_nulls("label").select("topic", "item", "label")
    good = highest_labels(known).filter(~_is_no_judgment() & (pl.col("label") >= relevant_from))
    relevant = dict(good.group_by("topic").len().iter_rows())
    totals = dict(judged.group_by("topic").len().iter_rows())
    return [
        _topic(
            topic,
            totals[topic],
            {label: labels.get((topic, label), 0) for label in range(7)},
            relevant.get(topic, 0),
        )
        for topic in sorted(totals, key=natural_key)
    ]


def make_qrels(
    judged: pl.DataFrame, *, level: Level, complete: bool, dropped: Iterable[str]
) -> pl.DataFrame:
    """Make qrels (topic, item, label) of judged rows, ordered by topic and item.

    At the visual level a formula has the highest label of its judged instances. Official qrels
    leave 5 and 6 out, complete ones keep them. What stands in `dropped` is left out of both.
    """
    rows = judged.drop_nulls("label").filter(~pl.col("topic").is_in(list(dropped)))
    if level == Level.VISUAL:
        qrels = highest_labels(rows.select("topic", "item", "label"))
    else:
        qrels = rows.select("topic", "label", item="doc_id")
    kept = qrels if complete else qrels.filter(~_is_no_judgment())
    ordered = kept.sort(pl.col("topic").cast(topic_order(kept["topic"].unique())), "item")
    return ordered.select("topic", "item", "label")


def _is_no_judgment() -> pl.Expr:
    return pl.col("label").is_in(NOT_JUDGMENTS)


def _topic(topic: str, total: int, labels: dict[int, int], relevant: int) -> JudgedTopic:
    labelled = sum(labels.values())
    return JudgedTopic(topic, total, labelled, labels, relevant, _reason(labelled, relevant))


def _reason(labelled: int, relevant: int) -> str:
    if relevant >= LEAST_RELEVANT:
        return ""
    if not labelled:
        return "Nothing of it is judged."
    return f"It has {relevant or 'no'} relevant item{'s' * (relevant != 1)}; a topic needs {LEAST_RELEVANT}."
