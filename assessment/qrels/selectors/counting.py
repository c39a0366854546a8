"""What counts: the label of the adjudication, else the official label, nothing else.

All readers of labels that count use this module (docs/adr/0025).
"""

from __future__ import annotations

import polars as pl
from django.db.models import QuerySet

from arqlab.core.models import Task
from assessment.models import Judgment, Pool, Round


def adjudicated_judgments(task: Task) -> QuerySet[Judgment]:
    """Return the current judgments of a task's adjudication.

    A third opinion that is not a judgment, such as Do not know, decides nothing.
    """
    pool = Pool.objects.filter(task=task, round__kind=Round.Kind.ADJUDICATION).first()
    if pool is None:
        return Judgment.objects.none()
    found = Judgment.objects.filter(is_current=True, instance__item__pool=pool).order_by()
    return found.exclude(label__in=pool.label_scale.unjudged)


def counting_labels(official: pl.DataFrame, task: Task, *, by: str) -> pl.DataFrame:
    """Replace official labels by adjudicated ones, with one query.

    `official` has the columns topic, label (null if not judged) and, named by `by`, the instance in
    the pools of `task`.
    """
    fields = ("instance__item__topic__query_id", "instance__doc_id", "label")
    rows = list(adjudicated_judgments(task).values_list(*fields))
    if not rows:
        return official
    columns = ("topic", by, "adjudicated")
    decided = pl.DataFrame(rows, schema=columns, orient="row").cast({"adjudicated": pl.Int8})
    joined = official.join(decided, on=["topic", by], how="left", maintain_order="left")
    return joined.with_columns(label=pl.coalesce("adjudicated", "label")).drop("adjudicated")
