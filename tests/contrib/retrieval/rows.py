"""A row of each model, for the tests of upgrades."""

from collections.abc import Iterator

from django.db.models import Model

from contrib.retrieval.models import SystemRun
from submissions.models import Run


def rows_of(run: Run) -> Iterator[Model]:
    """Yield the rows of a run."""
    yield SystemRun(run=run, system="bm25", settings={"k1": 1.2}, collection="f" * 64)
