"""Background tasks of pools. Each calls one service and is safe to run twice."""

from __future__ import annotations

from arqlab.celery import app
from assessment.pools.services import typesetting


@app.task
def typeset_pools(seconds: float = 5.0) -> None:
    """Typeset formulas of frozen pools for a few seconds, so that other tasks get their turn."""
    typesetting.typeset_waiting_pools(seconds=seconds)
