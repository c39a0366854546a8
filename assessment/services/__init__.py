"""What loads labs and qrels, builds pools, takes judgments, and freezes qrels."""

from assessment.services.loading import LoadedLab, load_lab, load_qrels
from assessment.services.pools import (
    ComputedPool,
    close_pool,
    compute_pool,
    discard_pool,
    freeze_pool,
    open_pool,
    supplement_pool,
)
from assessment.services.typesetting import typeset_pools

__all__ = [
    "ComputedPool",
    "LoadedLab",
    "close_pool",
    "compute_pool",
    "discard_pool",
    "freeze_pool",
    "load_lab",
    "load_qrels",
    "open_pool",
    "supplement_pool",
    "typeset_pools",
]
