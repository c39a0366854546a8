"""The worker's doors: one service called, safe to run twice."""

from __future__ import annotations

from arqlab.celery import app
from assessment.pools.services import typesetting


@app.task
def typeset_pools(seconds: float = 5.0) -> None:
    """Typeset the formulas of frozen pools, a while at a time, so that other tasks have their turn."""
    typesetting.typeset_waiting_pools(seconds=seconds)
