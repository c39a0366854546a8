"""The items that the pools of a task already have, which a supplement leaves out."""

from __future__ import annotations

import polars as pl

from arqkit.formulas.visual_ids import as_formulas
from arqlab.core.models import Task
from assessment.models import Pool, PoolInstance
from collection.models import VisualMap
from collection.selectors.collections import visual_ids_among

_FIELDS = {"topic": "item__topic__query_id", "item": "item__item", "doc_id": "doc_id"}


def pooled_before(task: Task, *, newest: VisualMap | None) -> pl.DataFrame | None:
    """Return topic, item and doc_id of the instances in the task's pools, or None without pools.

    The item is null for an instance that has another visual id now. After a split, which keeps the
    id on the larger part, no instance of the pooled formula may be left in the pools.
    """
    rows = PoolInstance.official.filter(item__pool__task=task).order_by()
    found = list(rows.values_list(*_FIELDS.values()))
    if not found:
        return None
    earlier = pl.DataFrame(found, schema=dict.fromkeys(_FIELDS, pl.String), orient="row")
    is_other = newest and Pool.official.filter(task=task).exclude(visual_map=newest).exists()
    ids = visual_ids_among(task.lab, earlier["doc_id"]) if is_other else None
    if ids is None:
        return earlier
    shown = as_formulas(earlier, ids)["item"]
    return earlier.with_columns(item=pl.when(pl.col("item") == shown).then("item"))
