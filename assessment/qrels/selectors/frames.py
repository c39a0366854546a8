"""Rows of the database as frames."""

from collections.abc import Mapping
from io import BytesIO

import polars as pl
from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import Model, Prefetch, QuerySet

from arqkit.labels import LabelScale
from arqlab.core.models import Task
from assessment.models import Judgment, LateLabel, Pool, Round
from assessment.models.kinds import Comparison

READING = 2.5e-6
"""The seconds to read and count a line of qrels or a label."""
JUDGMENT_COLUMNS: dict[str, tuple[str, type[pl.DataType]]] = {
    "topic": ("instance__item__topic__query_id", pl.String),
    "item": ("instance__item__item", pl.String),
    "doc_id": ("instance__doc_id", pl.String),
    "instance": ("instance", pl.Int64),
    "pool": ("instance__item__pool", pl.Int64),
    "assessor": ("assessor", pl.Int64),
    "label": ("label", pl.Int8),
    "active_ms": ("active_ms", pl.Int64),
    "judgment": ("pk", pl.Int64),
}
"""The columns of `judgment_frame`: the field of the judgment, and the type."""


def adjudicated_judgments(task: Task) -> QuerySet[Judgment]:
    """Return the current judgments of a task's adjudication.

    A third opinion that is not a judgment, such as Do not know, decides nothing.
    """
    pool = Pool.objects.filter(round__in=Round.objects.filter(task=task).that(decides=True)).first()
    if pool is None:
        return Judgment.objects.none()
    judgments = Judgment.objects.filter(is_current=True, instance__item__pool=pool).order_by()
    return judgments.exclude(label__in=pool.label_scale.unjudged)


def counting_labels(official: pl.DataFrame, task: Task, *, by: str) -> pl.DataFrame:
    """Replace official labels by adjudicated ones, with one query.

    `official` has the columns topic, label (null if not judged) and, named by `by`, the instance in
    the pools of `task`.
    """
    judgments = adjudicated_judgments(task)
    decided = judgment_frame(judgments, "topic", **{by: "doc_id", "adjudicated": "label"})
    if decided.is_empty():
        return official
    joined = official.join(decided, on=["topic", by], how="left", maintain_order="left")
    return joined.with_columns(label=pl.coalesce("adjudicated", "label")).drop("adjudicated")


def second_judgments(task: Task) -> QuerySet[Judgment]:
    """Return the current judgments of items judged again, in the rounds that organizers see."""
    again = Round.objects.filter(task=task).that(compares=Comparison.OFFICIAL).opened()
    return Judgment.objects.filter(is_current=True, instance__item__pool__round__in=again)


def two_labels(task: Task) -> pl.DataFrame:
    """Return the labels of two assessors by instance (topic, doc_id, assessor, label).

    They are the official one and the last second one of somebody else; an adjudicated label
    replaces both.
    """
    columns = ("topic", "doc_id", "assessor", "label")
    first = judgment_frame(official_judgments(task), *columns)
    second = judgment_frame(second_judgments(task).order_by("-pk"), *columns)
    others = second.join(first, on=columns[:3], how="anti", maintain_order="left")
    last = others.unique(columns[:2], keep="first", maintain_order=True)
    return counting_labels(pl.concat([first, last]), task, by="doc_id")


def group_members(task: Task) -> dict[str, set[int]]:
    """Return the keys of the assessors of each group on the roster of a task, by its name."""
    groups: dict[str, set[int]] = {}
    for name, person in (
        task.roster.exclude(group="").order_by("group").values_list("group", "user")
    ):
        groups.setdefault(name, set()).add(person)
    return groups


def added_labels(labels: pl.DataFrame, scale: LabelScale) -> pl.DataFrame:
    """Return the sum of the `two_labels` of each instance that has both (003 §4).

    If one of them is not a judgment, neither is the sum.
    """
    report = pl.col("label").filter(~scale.is_judged()).first()
    total = pl.coalesce(report, pl.col("label").sum()).cast(pl.Int8)
    both = labels.group_by("topic", "doc_id").agg(label=total, sides=pl.len())
    return both.filter(pl.col("sides") == 2).drop("sides")


def late_labels(task: Task) -> QuerySet[LateLabel]:
    """Return the late labels of a task, of the official round and of others."""
    return LateLabel.objects.filter(judgment__instance__item__pool__task=task)


def with_labels_that_count(labels: QuerySet[LateLabel]) -> QuerySet[LateLabel]:
    """Return late labels with what a list shows, and the label that counts instead, if any."""
    counting = Judgment.objects.filter(is_current=True).select_related("assessor")
    related = ("assessor", "instance__item__topic", "instance__item__pool__round")
    return labels.select_related(
        *(f"judgment__{name}" for name in related), "decided_by"
    ).prefetch_related(
        Prefetch("judgment__instance__judgments", counting, to_attr="counting_judgments")
    )


def official_judgments(task: Task) -> QuerySet[Judgment]:
    """Return the current official judgments in the pools of a task, in no order."""
    return Judgment.official.filter(is_current=True, instance__item__pool__task=task).order_by()


def judgment_frame(judgments: QuerySet[Judgment], *names: str, **renamed: str) -> pl.DataFrame:
    """Return columns of judgments in their order, some of them by other names, in one query."""
    columns = {name: JUDGMENT_COLUMNS[name] for name in names}
    columns |= {name: JUDGMENT_COLUMNS[column] for name, column in renamed.items()}
    rows = judgments.values_list(*(field for field, _ in columns.values()))
    return read_frame(rows, {name: kind for name, (_, kind) in columns.items()})


def read_frame(
    rows: QuerySet[Model, object], schema: Mapping[str, pl.DataType | type[pl.DataType]]
) -> pl.DataFrame:
    """Return the rows of `values_list`, with annotations after the fields, in one query.

    On PostgreSQL, COPY takes half the time: no row becomes a Python object, which the garbage
    collector would look at again and again.
    """
    if connection.vendor == "postgresql":
        return _copied(rows, schema)
    return pl.DataFrame(list(rows), schema=schema, orient="row")


def _copied(
    rows: QuerySet[Model, object], schema: Mapping[str, pl.DataType | type[pl.DataType]]
) -> pl.DataFrame:
    try:
        sql, parameters = rows.query.sql_with_params()
    except EmptyResultSet:
        return pl.DataFrame(schema=schema)
    text = BytesIO()
    with connection.cursor() as cursor:
        select = cursor.mogrify(sql, parameters).decode()
        cursor.copy_expert(f"COPY ({select}) TO STDOUT (FORMAT csv)", text)
    if not text.tell():
        return pl.DataFrame(schema=schema)
    # PostgreSQL writes t and f.
    flags = [name for name, kind in schema.items() if kind == pl.Boolean]
    types = {**schema, **dict.fromkeys(flags, pl.String)}
    frame = pl.read_csv(text.getvalue(), has_header=False, schema=types)
    return frame.with_columns(pl.col(flags) == "t") if flags else frame
