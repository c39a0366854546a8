"""The differences of two versions of qrels, or of a version and the draft, and who made them."""

from collections.abc import Iterable
from typing import TypedDict

import polars as pl
from django.db.models import Q

from arqkit.judgments.qrels import QrelDiff, diff_qrels
from arqkit.labels import LabelScale
from arqlab.core.caches import cached_value, key_of
from arqlab.core.models import Task
from assessment.models import Judgment, QrelSet
from assessment.qrels.selectors.drafts import LabelSource, draft_topics
from assessment.qrels.selectors.frames import READING, adjudicated_judgments, second_judgments
from assessment.qrels.selectors.versions import qrels_frame

# A side of the comparison: a version, or None for the draft.
Side = QrelSet | None


class ChangedLine(TypedDict):
    """A line of `QrelDiff.rows`; those of a page have the judgment that changed it, if any."""

    topic: str
    item: str
    change: str
    before: int | None
    after: int | None
    judgment: Judgment | None


def changing_judgments(
    task: Task, rows: Iterable[ChangedLine], *, before: QrelSet | None, after: QrelSet | None
) -> dict[tuple[str, str], Judgment]:
    """Return the newest judgment between two sides that gave each line its new label.

    `rows` have topic, item and after: a label, or None for a removed line, whose judgment has a
    label that is not a judgment, such as Do not know; the newest of both where labels of two
    assessors are added. None as a side is the draft. Lines that changed for another reason, such as
    a loaded file, another pool or a topic left out, have no judgment.
    """
    labels = {(row["topic"], row["item"]): row["after"] for row in rows}
    items = {item for _, item in labels}
    of_items = Q(instance__doc_id__in=items) | Q(instance__item__item__in=items)
    sides = {"judged_at__gt": before, "judged_at__lte": after}
    limits = {
        **{name: side.created_at for name, side in sides.items() if side},
        "instance__item__pool__task": task,
        "instance__item__topic__query_id__in": {topic for topic, _ in labels},
    }
    related = ("assessor", "supersedes__ticket", "instance__item__pool__round")
    adds = LabelSource(task).adds
    sources = [Judgment.official.all(), adjudicated_judgments(task)]
    candidates = [
        judgment
        for judgments in [*sources, *([second_judgments(task)] if adds else [])]
        for judgment in judgments.filter(of_items, **limits).select_related(
            *related, "instance__item__topic"
        )
    ]
    side = after or before
    accepted = side.label_scale.unjudged if side else ()
    changes = {}
    for judgment in sorted(candidates, key=lambda judgment: (judgment.judged_at, judgment.pk)):
        instance = judgment.instance
        for item in (instance.doc_id, instance.item.item):
            key = (instance.item.topic.query_id, item)
            if key not in labels:
                continue
            is_label = judgment.label == labels[key]
            if adds or is_label or (labels[key] is None and judgment.label in accepted):
                changes[key] = judgment
    return changes


def diff_of(task: Task, before: Side, after: Side) -> QrelDiff:
    """Compare the sides; a draft takes the items and completeness of the other side."""
    model, sides = before or after, [side and (side.pk, side.sha256) for side in (before, after)]
    source = LabelSource(task)

    def frame(side: Side) -> pl.DataFrame:
        if side is not None:
            return qrels_frame(side)
        return source.draft().qrels_by(
            model.items if model else "", complete=bool(model and model.is_complete)
        )

    def compute() -> QrelDiff:
        return diff_qrels(frame(before), frame(after))

    if before and after:
        work = READING * (before.lines + after.lines)
        return cached_value(key_of("qrels-diff", sides), compute, work=work)
    return source.kept("draft-diff", compute, sides).value


def scale_of(side: Side, task: Task) -> LabelScale:
    """Return the labels of a side; those of a version do not change with the task's."""
    return side.label_scale if side else draft_topics(task).scale
