"""Rounds of second judgments."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction

from arqkit.agreement.second_judging import RejudgingPlan
from arqlab.core.models import Task, User
from assessment.models import PoolItem, Round
from assessment.rounds.selectors.items import copied_items
from assessment.rounds.services.making import RoundPlan, make_round
from assessment.rounds.services.states import announce_round


@transaction.atomic
def make_second_round(
    *, task: Task, plan: RejudgingPlan, source: Mapping[str, Any], by: User, at: datetime
) -> Round:
    """Store a round in which people judge items again as planned, and notify them.

    Raises `UserError` if nobody has an item (`nothing-to-judge`).
    """
    keys = [item.key for items in plan.items.values() for item in items]
    found = PoolItem.official.filter(pk__in=keys, pool__task=task).order_by("pk")
    copies = dict(zip(found.values_list("pk", flat=True), copied_items(found), strict=True))
    items = {
        person: [copies[item.key] for item in mine] for person, mine in plan.items.items() if mine
    }
    wanted = RoundPlan(Round.Kind.SECOND, items, source=source)
    made = make_round(task=task, plan=wanted, by=by, at=at)
    announce_round(made, items={person: len(mine) for person, mine in items.items()}, by=by)
    return made
