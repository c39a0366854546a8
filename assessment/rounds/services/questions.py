"""Rounds of special questions."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from arqlab.core.models import Task, User
from assessment.models import Round
from assessment.rounds.services.making import RoundPlan, make_round
from assessment.rounds.services.states import announce_round


@transaction.atomic
def make_question_round(*, task: Task, plan: RoundPlan, by: User, at: datetime) -> Round:
    """Make a round of special questions and notify its assessors. Raises as `make_round` does."""
    made = make_round(task=task, plan=plan, by=by, at=at)
    announce_round(made, items={key: len(copies) for key, copies in plan.items.items()}, by=by)
    return made
