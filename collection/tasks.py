"""Background tasks of collections. Each calls one service and is safe to run twice."""

from django.utils import timezone

from arqlab.celery import scheduled
from collection.services import indexing, parquet_files
from collection.services.indexing import INDEX_CLAIM


@scheduled(every=3600)
def sweep_columns() -> None:
    """Delete the Parquet files that no row refers to, as killed workers leave them behind."""
    parquet_files.delete_unused_files(at=timezone.now())


@scheduled(every=15, time_limit=int(INDEX_CLAIM.total_seconds()) - 30)
def index_waiting() -> None:
    """Update the search indexes for a few seconds, so that other tasks get their turn.

    An index of symbol pairs is built in one go, so this task has a longer time limit than others.
    """
    indexing.update_search_indexes(seconds=10)
