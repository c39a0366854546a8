"""A pool before it is frozen, with the checks that its organizer sees."""

from dataclasses import dataclass
from datetime import datetime

from arqlab.core.errors import UserError
from arqlab.core.models import Task
from arqlab.labs.oddities import Oddity
from assessment.pools.selectors.choices import PoolChoice
from assessment.pools.selectors.oddities import pool_oddities
from assessment.pools.selectors.pool_pages import settings_summary
from assessment.pools.services.freezing import ComputedPool, compute_pool


@dataclass(frozen=True, kw_only=True)
class DraftedPool:
    """A pool as it would be frozen, if it can be, and its settings in words."""

    depths: str
    computed: ComputedPool | None


@dataclass(frozen=True)
class PoolDraft:
    """What the freeze page shows of a pool: what would be frozen, or why not, and the checks."""

    shown: DraftedPool
    refusals: list[str]
    checks: list[Oddity]


def pool_draft(task: Task, choice: PoolChoice, *, at: datetime, query: str) -> PoolDraft:
    """Return a pool before it is frozen; `query` leads from a check back to the planner."""
    computed, refusals = None, []
    try:
        computed = compute_pool(task=task, choice=choice)
    except UserError as refused:
        refusals = [refused.message]
    checks = pool_oddities(
        task,
        choice,
        labels=computed.labels if computed else None,
        texts=computed.texts if computed else {},
        at=at,
        query=query,
    )
    shown = DraftedPool(depths=settings_summary(choice.protocol), computed=computed)
    return PoolDraft(shown, refusals, checks)
