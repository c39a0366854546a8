"""The rankings of runs for one topic, with labels, and the relevant items that runs found."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

import polars as pl

from arqkit.records import ItemKind
from arqlab.core.caches import computed_values
from assessment.models import QrelSet
from assessment.qrels.selectors.versions import topic_frame
from collection.selectors.collections import visual_ids_among
from evaluation.selectors.pending_scores import formulas_index_of, item_identity
from evaluation.services.scoring import comparable_items
from submissions.models import Run
from submissions.selectors import ordered_index, run_items

_COLUMNS = ("topic", "item", "post", "rank", "score")
_FOUND = {"item": pl.String, "run": pl.Int64, "order": pl.Int32}


def ranking_of(run: Run, *, qrel_set: QrelSet, query_id: str) -> pl.DataFrame:
    """Return the run's items for a topic in the order in which measures read them.

    Columns: order, item (as in the qrels), source (the id in the run file), post, rank, score, for
    Task 3 answer, and label (null if unjudged).
    """
    judged = topic_frame(qrel_set, query_id)
    ranking = _ranking(run, qrel_set, query_id, judged)
    return ranking.join(judged, on=["topic", "item"], how="left", maintain_order="left")


def relevant_items(qrel_set: QrelSet, query_id: str) -> pl.DataFrame:
    """Return the relevant items of a topic, highest label first: topic, item, label, source."""
    judged = topic_frame(qrel_set, query_id).with_columns(source="item")
    relevant = judged.filter(pl.col("label") >= qrel_set.relevant_from)
    return relevant.sort("label", descending=True, maintain_order=True)


def relevant_found(runs: Sequence[Run], *, qrel_set: QrelSet, query_id: str) -> pl.DataFrame:
    """Return which runs found the relevant items of a topic: item, run (its key), order.

    The result is cached: neither qrels nor the index of a run ever change.
    """
    index = formulas_index_of(qrel_set)
    order = qrel_set.task.protocol.order
    names = [
        (run.pk, run.index.name, item_identity(run, qrel_set, formulas_index=index)) for run in runs
    ]
    inputs = (qrel_set.sha256, qrel_set.scale, qrel_set.relevant_from, query_id, order, names)
    key = f"relevant-found:{qrel_set.pk}:{sha256(repr(inputs).encode()).hexdigest()}"
    known: list[tuple[str, int, int]] | None = computed_values.get(key)
    if known is None:
        judged = topic_frame(qrel_set, query_id)
        relevant = relevant_items(qrel_set, query_id)
        parts = [
            _ranking(run, qrel_set, query_id, judged)
            .join(relevant, on="item", how="semi")
            .select("item", pl.lit(run.pk, pl.Int64).alias("run"), "order")
            for run in runs
        ]
        known = pl.concat([pl.DataFrame(schema=_FOUND), *parts]).rows()
        computed_values.set(key, known, timeout=None)
    return pl.DataFrame(known, schema=_FOUND, orient="row")


def _ranking(run: Run, qrel_set: QrelSet, query_id: str, judged: pl.DataFrame) -> pl.DataFrame:
    columns = (*_COLUMNS, "answer") if qrel_set.items == ItemKind.ANSWERS else _COLUMNS
    scan = ordered_index(run, order=qrel_set.task.protocol.order, columns=columns)
    index = scan.filter(pl.col("topic") == query_id).with_columns(source="item").collect()
    mapping = None
    if qrel_set.items == ItemKind.VISUAL_IDS != run_items(run, qrel_set.task):
        mapping = visual_ids_among(qrel_set.task.lab, index["item"])
    return comparable_items(index, run, qrel_set=qrel_set, judged=judged, mapping=mapping)
