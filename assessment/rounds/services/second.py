"""Rounds of second judgments."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction

from arqlab.core.models import Task, User
from arqlab.core.services.audit import record_event
from arqlab.ir.agreement.second_judging import SecondPlan
from assessment.models import Pool, PoolItem, Round
from assessment.rounds.selectors.items import copied_items
from assessment.rounds.services.making import RoundPlan, make_round
from assessment.rounds.services.training import announce_round


@transaction.atomic
def make_second_round(
    *, task: Task, plan: SecondPlan, source: Mapping[str, Any], by: User, at: datetime
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


@transaction.atomic
def reveal_second_round(*, found: Round, by: User | None, at: datetime) -> None:
    """End judging in a round, and show the organizers its labels."""
    if Round.objects.filter(pk=found.pk, revealed_at=None).update(revealed_at=at):
        Pool.objects.filter(round=found, closed_at=None).update(closed_at=at)
        lab = found.task.lab
        record_event(verb="round.reveal", target=found, lab=lab, actor=by, round=found.key)
