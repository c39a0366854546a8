"""The officially judged items that can be judged again, and the pairs of labels of a round."""

from __future__ import annotations

from collections import defaultdict

import polars as pl
from django.db.models import Q

from arqlab.core.models import Task
from arqlab.ir.agreement.second_judging import SecondItem
from arqlab.ir.labels import LabelScale
from assessment.models import Judgment, PoolItem, Round
from assessment.qrels.selectors.drafts import task_scale

_WHERE = "instance__item"
_IS_OWN = pl.col("first_assessor").eq_missing(pl.col("second_assessor"))
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


def second_items(task: Task) -> list[SecondItem]:
    """Return the completed official items of a task that no round judged or judges again.

    Items with a label that is not a judgment are left out. Everyone who ever judged an item counts
    as its judge, because they know it.
    """
    judges: dict[int, set[int]] = defaultdict(set)
    official = Judgment.official.filter(**{f"{_WHERE}__pool__task": task}).order_by()
    for item, assessor in official.values_list(_WHERE, "assessor").distinct():
        judges[item] |= {assessor} - {None}
    reported = official.filter(is_current=True, label__in=task_scale(task).unjudged)
    again = PoolItem.objects.filter(pool__task=task, pool__round__kind=Round.Kind.SECOND)
    again = again.filter(Q(done_at__isnull=False) | Q(pool__closed_at=None))
    known = set(again.order_by().values_list("topic", "item"))
    items = PoolItem.official.filter(pool__task=task, done_at__isnull=False)
    rows = items.exclude(pk__in=reported.values(_WHERE)).order_by(
        "topic__position", "pool", "position"
    )
    return [
        SecondItem(pk, query_id, frozenset(judges[pk]))
        for pk, topic, query_id, item in rows.values_list("pk", "topic", "topic__query_id", "item")
        if (topic, item) not in known
    ]


def second_pairs(found: Round) -> pl.DataFrame:
    """Return the official and the second label of each instance that a round judged again.

    The columns are topic, item, doc_id and, of `first` (the current official label) and `second`,
    the label, the assessor (null if imported) and the milliseconds (null if unknown). An instance
    whose official label is by its second assessor is left out (`own_pairs`).
    """
    return _all_pairs(found).filter(~_IS_OWN)


def own_pairs(found: Round) -> pl.DataFrame:
    """Return the pairs of labels that one assessor gave to the same instance, as `second_pairs`."""
    return _all_pairs(found).filter(_IS_OWN)


def _all_pairs(found: Round) -> pl.DataFrame:
    official = Judgment.official.filter(is_current=True, **{f"{_WHERE}__pool__task": found.task})
    fields = (f"{_WHERE}__topic__query_id", f"{_WHERE}__item", "instance__doc_id")
    values = ("assessor", "label", "active_ms")
    first = pl.DataFrame(
        list(official.order_by().values_list(*fields, *values)), schema=_FIRST, orient="row"
    )
    own = Judgment.objects.filter(is_current=True, **{f"{_WHERE}__pool__round": found})
    order = ("topic__position", "assessor", "position")
    ordered = own.order_by(*(f"{_WHERE}__{name}" for name in order), "instance__position")
    rows = ordered.values_list(fields[0], fields[2], *values)
    second = pl.DataFrame(list(rows), schema=_SECOND, orient="row")
    return first.join(second, on=["topic", "doc_id"], maintain_order="right")


def only_judged_pairs(pairs: pl.DataFrame, scale: LabelScale) -> pl.DataFrame:
    """Return the pairs of labels that are both judgments."""
    reports = pl.col("first", "second").cast(pl.Int64).is_in(list(scale.unjudged))
    return pairs.filter(~pl.any_horizontal(reports))
