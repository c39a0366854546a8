"""Training rounds."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime

from django.db import transaction

from arqlab.core.errors import UserError
from arqlab.core.models import Task, User
from assessment.models import Round
from assessment.rounds.selectors.rounds import complete_trainings
from assessment.rounds.services.making import RoundPlan, make_round
from assessment.rounds.services.states import announce_round, reveal_round


@transaction.atomic
def make_training(*, task: Task, plan: RoundPlan, by: User, at: datetime) -> Round:
    """Make a training round and notify its assessors. Raises as `make_round` does."""
    made = make_round(task=task, plan=plan, by=by, at=at)
    announce_round(made, items={key: len(copies) for key, copies in plan.items.items()}, by=by)
    return made


def reveal_trainings(*, at: datetime) -> None:
    """Reveal the votes of each training round in which all are in."""
    for found in complete_trainings():
        with suppress(UserError):  # an organizer came first
            reveal_round(found=found, by=None, at=at)
