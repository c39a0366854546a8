"""The judgments that the radar reads, as frames."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl
from django.db.models import OuterRef, Q, QuerySet, Subquery

from arqkit.judgments.findings import RADAR_SCHEMA
from arqkit.labels import LabelScale
from arqlab.core.models import Task
from assessment.models import DuplicatePosts, Judgment, Pool, PoolInstance, Round
from assessment.qrels.selectors.frames import read_frame

_FIELDS = {
    "assessor": "assessor_id",
    "topic": "instance__item__topic_id",
    "pool": "instance__item__pool_id",
    "item": "instance__item_id",
    "instance": "instance_id",
    "label": "label",
    "active_ms": "active_ms",
    "is_imported": "is_imported",
}
_OF_FORMULAS = {"visual_id": "instance__item__item", "post": "instance__post_id"}
_OF_COPIES = {
    "assessor": "assessor_id",
    "topic": "instance__item__topic_id",
    "doc_id": "instance__doc_id",
    "instance": "instance_id",
    "label": "label",
    "post": "instance__post_id",
    "original": "original",
}


def read_judged(task: Task, scale: LabelScale) -> pl.DataFrame:
    """Return the current official labels that are judgments, with the columns of `RADAR_SCHEMA`.

    Rows are in the order in which they were stored. Takes three queries. Texts are read for
    formulas only: with 45,000 posts, they would take as long as the numbers.
    """
    fields = _FIELDS | (_OF_FORMULAS if task.kind == Task.Kind.FORMULAS else {})
    official = Judgment.official.filter(instance__item__pool__task=task)
    read = _frame(_counting(official, scale), fields)
    missing = [pl.lit(None, pl.String).alias(name) for name in RADAR_SCHEMA.keys() - fields.keys()]
    frame = _with_topics(task, read.with_columns(missing))
    if groups := _duplicates(task):
        same = pl.col("instance").replace_strict(groups, default=None, return_dtype=pl.String)
        frame = frame.with_columns(text=same)
    return frame.select(*RADAR_SCHEMA)


def judged_twice(task: Task, scale: LabelScale, judged: pl.DataFrame) -> pl.DataFrame:
    """Return the labels of instances that an assessor judged officially and in a second round.

    `judged` are the official labels. The columns are assessor, topic, doc_id, instance, label and
    post.
    """
    is_second = Q(round__kind=Round.Kind.SECOND)
    found = Pool.objects.filter(Q(round=None) | is_second, task=task)
    pools = dict(found.values_list("pk", "round"))
    seconds = [pk for pk, round_id in pools.items() if round_id]
    # By the keys of pools, so that databases find an item by pool, topic and id.
    originals = PoolInstance.official.filter(
        item__pool__in=pools.keys() - set(seconds),
        item__topic=OuterRef("instance__item__topic"),
        item__item=OuterRef("instance__item__item"),
        doc_id=OuterRef("instance__doc_id"),
    ).order_by()
    copies = Judgment.objects.filter(instance__item__pool__in=seconds).annotate(
        original=Subquery(originals.values("pk")[:1])
    )
    again = _frame(_counting(copies, scale), _OF_COPIES)
    if again.is_empty():
        return again
    again = _with_topics(task, again).join(
        judged.select("assessor", original="instance"),
        on=["assessor", "original"],
        how="semi",
        maintain_order="left",
    )
    names = again.select("assessor", "doc_id", "post", instance="original").unique()
    before = judged.drop("post").join(names, on=["assessor", "instance"], maintain_order="left")
    columns = ("assessor", "topic", "doc_id", "instance", "label", "post")
    return pl.concat([before.select(columns), again.select(columns)])


def _counting(judgments: QuerySet[Judgment], scale: LabelScale) -> QuerySet[Judgment]:
    """Return the current labels of people that are judgments, in the order of storing."""
    values = [label.value for label in scale.judgments]
    return judgments.filter(is_current=True, assessor__isnull=False, label__in=values).order_by(
        "pk"
    )


def _frame(judgments: QuerySet[Judgment], fields: Mapping[str, str]) -> pl.DataFrame:
    types = RADAR_SCHEMA | {"topic": pl.Int64, "doc_id": pl.String, "original": pl.Int64}
    schema = {name: types[name] for name in fields}
    return read_frame(judgments.values_list(*fields.values()), schema)


def _with_topics(task: Task, frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame with the ids of topics instead of their keys."""
    names = dict(task.topics.values_list("pk", "query_id"))
    return frame.with_columns(
        topic=pl.col("topic").replace_strict(names, default=None, return_dtype=pl.String)
    )


def _duplicates(task: Task) -> dict[int, str]:
    """Return the first of the posts with the same text, by instance."""
    stored = DuplicatePosts.objects.filter(task=task).values_list("groups", flat=True).first()
    return {instance: first for first, instances in stored or () for instance in instances}
