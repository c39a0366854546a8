"""The votes of a round: who gave which label to what."""

from __future__ import annotations

import polars as pl
from django.db.models import QuerySet

from arqlab.core.models import Task
from assessment.models import Judgment, Pool, PoolInstance, Round
from assessment.qrels.selectors.frames import read_frame
from assessment.rounds.selectors.rounds import open_second_pools

VOTES = {
    "topic": pl.String,
    "item": pl.String,
    "doc_id": pl.String,
    "assessor": pl.Int64,
    "label": pl.Int8,
    "judgment": pl.Int64,
}


def round_votes(pool: Pool) -> pl.DataFrame:
    """Return the current labels of a round, one row per instance and assessor (`VOTES`).

    Instances that an assessor has not judged have no row.
    """
    fields = ("item__topic__query_id", "item__item", "doc_id", "item__assessor")
    judged = PoolInstance.objects.filter(item__pool=pool, judgments__is_current=True)
    rows = judged.order_by("item__topic__position", "item__position", "position", "item__assessor")
    return read_frame(rows.values_list(*fields, "judgments__label", "judgments__pk"), VOTES)


def round_judgments(task: Task, kind: Round.Kind) -> QuerySet[Judgment]:
    """Return all judgments of a task's rounds of a kind that organizers may see.

    Second judgments are those of completed or revealed rounds.
    """
    found = Judgment.objects.filter(
        instance__item__pool__task=task, instance__item__pool__round__kind=kind
    )
    if kind == Round.Kind.SECOND:
        return found.filter(instance__item__pool__in=open_second_pools(task))
    return found
