"""Training rounds."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from arqlab.core.errors import UserError
from arqlab.core.models import Task, User
from assessment.models import PoolItem, Round
from assessment.rounds.services.making import RoundPlan, make_round
from assessment.rounds.services.states import announce_round, reveal_round


@transaction.atomic
def make_training(*, task: Task, plan: RoundPlan, by: User, at: datetime) -> Round:
    """Make a training round and notify its assessors. Raises as `make_round` does."""
    made = make_round(task=task, plan=plan, by=by, at=at)
    announce_round(made, items={key: len(copies) for key, copies in plan.items.items()}, by=by)
    return made


def reveal_if_complete(found: Round, *, at: datetime) -> None:
    """Reveal the votes of a round if all are in and nobody revealed them yet."""
    if found.revealed_at or PoolItem.objects.filter(pool__round=found, done_at=None).exists():
        return
    try:
        reveal_round(found=found, by=None, at=at)
    except UserError:  # another request came first
        found.refresh_from_db()
