"""Pools as they are frozen: computed from the runs as they stand, stored, and never changed. What comes later is a supplement."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import partial
from hashlib import sha256
from typing import Any

import polars as pl
from django.db import transaction
from django.db.models import Max

from arqlab.core.errors import UserError
from arqlab.core.models import Task, Topic, User
from arqlab.core.services import record_event
from arqlab.core.services.storing import insert_rows
from arqlab.ir.pooling import make_pool, write_pool
from arqlab.ir.protocols import PROTOCOLS
from arqlab.ir.records import TaskKind
from assessment.models import Judgment, Pool, PoolInstance, PoolItem
from assessment.selectors.poolsources import POOL_KINDS, PoolChoice, TaskSources, pool_sources, with_indexes
from collection.models import Post
from collection.selectors import collection_of
from submissions.models import Run

IDS_AT_ONCE = 5000


@dataclass(frozen=True)
class ComputedPool:
    """A pool before it is frozen: its labels (`arqlab.ir.pooling.make_pool`), its hash, and what it was made of."""

    labels: pl.DataFrame
    sha256: str
    sources: TaskSources

    @property
    def items(self) -> int:
        """Give the number of items."""
        return self.labels.select("topic", "item").n_unique()


def compute_pool(*, task: Task, choice: PoolChoice) -> ComputedPool:
    """Compute what a pool of the task would be now; where it has pools, what a supplement to them would be.

    Raises `UserError` where the protocol has no pool, or two runs bring one written answer with different texts.
    """
    if choice.protocol.method == "none":
        raise UserError(
            "This protocol has no pool: its one relevant item is known beforehand. Choose other settings.",
            code="no-pool",
        )
    sources = pool_sources(task, choice)
    indexed = with_indexes(sources, task)
    labels = make_pool(indexed, choice.protocol, kind=POOL_KINDS[TaskKind(task.kind)], seed=choice.seed)
    known = set(Topic.objects.filter(task=task).values_list("query_id", flat=True))
    labels = labels.filter(pl.col("topic").is_in(known))
    return ComputedPool(labels, sha256(write_pool(labels)).hexdigest(), sources)
