"""The worker's doors: one service called, safe to run twice."""

from __future__ import annotations

from django.utils import timezone

from arqlab.celery import app
from collection.services import indexing, parquet_files
from collection.services.indexing import INDEX_CLAIM


@app.task
def sweep_columns() -> None:
    """Remove columns that a worker stored and was killed before any row named them."""
    parquet_files.delete_unused_files(at=timezone.now())


@app.task(time_limit=int(INDEX_CLAIM.total_seconds()) - 30)
def index_waiting() -> None:
    """Bring the search indexes up to date, a while at a time, so that other tasks have their turn.

    One index of pairs is made in one piece, which may take longer than other tasks are given.
    """
    indexing.update_search_indexes(seconds=10)
