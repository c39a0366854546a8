"""The officially judged items that can be judged again, and the pairs of labels of a round."""

from __future__ import annotations

import polars as pl
from django.db.models import Q

from arqkit.agreement.second_judging import SecondItem
from arqkit.labels import LabelScale
from arqlab.core.models import Task
from assessment.models import Judgment, PoolItem, Round
from assessment.qrels.selectors.drafts import task_scale
from assessment.qrels.selectors.frames import read_frame

_WHERE = "instance__item"
_IS_OWN = pl.col("first_assessor").eq_missing(pl.col("second_assessor"))
_ITEM = {"topic_key": pl.Int64, "item": pl.String}
_OPEN_ITEM = _ITEM | {"key": pl.Int64, "topic": pl.String}
_FIRST = {
    "topic": pl.String,
    "item": pl.String,
    "doc_id": pl.String,
    "first_assessor": pl.Int64,
    "first": pl.Int8,
    "first_ms": pl.Int64,
}
_SECOND = {
    "topic": pl.String,
    "doc_id": pl.String,
    "second_assessor": pl.Int64,
    "second": pl.Int8,
    "second_ms": pl.Int64,
}


def open_second_items(task: Task) -> pl.DataFrame:
    """Return the completed official items of a task that no round judged or judges again.

    The columns are key, topic and judges. Items with a label that is not a judgment are left out.
    Everyone who ever judged an item counts as its judge, because they know it.
    """
    official = Judgment.official.filter(**{f"{_WHERE}__pool__task": task}).order_by()
    pairs = official.exclude(assessor=None).values_list(_WHERE, "assessor").distinct()
    judges = read_frame(pairs, {"key": pl.Int64, "judges": pl.Int64}).group_by("key").agg("judges")
    reported = official.filter(is_current=True, label__in=task_scale(task).unjudged)
    again = PoolItem.objects.filter(pool__task=task, pool__round__kind=Round.Kind.SECOND)
    again = again.filter(Q(done_at__isnull=False) | Q(pool__closed_at=None))
    known = read_frame(again.order_by().values_list("topic", "item"), _ITEM)
    items = PoolItem.official.filter(pool__task=task, done_at__isnull=False)
    rows = items.exclude(pk__in=reported.values(_WHERE)).order_by(
        "topic__position", "pool__number", "position"
    )
    open_items = read_frame(rows.values_list("topic", "item", "pk", "topic__query_id"), _OPEN_ITEM)
    left = open_items.join(known, on=["topic_key", "item"], how="anti", maintain_order="left")
    return left.select("key", "topic").join(judges, on="key", how="left", maintain_order="left")


def second_items(items: pl.DataFrame) -> list[SecondItem]:
    """Return the items of `open_second_items`."""
    groups: dict[tuple[int, ...], frozenset[int]] = {}
    return [
        SecondItem(key, topic, groups.setdefault(tuple(judges or ()), frozenset(judges or ())))
        for key, topic, judges in items.iter_rows()
    ]


def second_pairs(round_: Round) -> pl.DataFrame:
    """Return the official and the second label of each instance that a round judged again.

    The columns are topic, item, doc_id and, of `first` (the current official label) and `second`,
    the label, the assessor (null if imported) and the milliseconds (null if unknown). An instance
    whose official label is by its second assessor is left out (`own_pairs`).
    """
    return _all_pairs(round_).filter(~_IS_OWN)


def own_pairs(round_: Round) -> pl.DataFrame:
    """Return the pairs of labels that one assessor gave to the same instance, as `second_pairs`."""
    return _all_pairs(round_).filter(_IS_OWN)


def _all_pairs(round_: Round) -> pl.DataFrame:
    official = Judgment.official.filter(is_current=True, **{f"{_WHERE}__pool__task": round_.task})
    fields = (f"{_WHERE}__topic__query_id", f"{_WHERE}__item", "instance__doc_id")
    values = ("assessor", "label", "active_ms")
    first = read_frame(official.order_by().values_list(*fields, *values), _FIRST)
    own = Judgment.objects.filter(is_current=True, **{f"{_WHERE}__pool__round": round_})
    order = ("topic__position", "assessor", "position")
    ordered = own.order_by(*(f"{_WHERE}__{name}" for name in order), "instance__position")
    second = read_frame(ordered.values_list(fields[0], fields[2], *values), _SECOND)
    return first.join(second, on=["topic", "doc_id"], maintain_order="right")


def only_judged_pairs(pairs: pl.DataFrame, scale: LabelScale) -> pl.DataFrame:
    """Return the pairs of labels that are both judgments."""
    reports = pl.col("first", "second").cast(pl.Int64).is_in(list(scale.unjudged))
    return pairs.filter(~pl.any_horizontal(reports))
