"""Training rounds: made, revealed, and announced to their assessors."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction
from django.urls import reverse

from arqlab.core.errors import UserError
from arqlab.core.models import Task, User
from arqlab.core.services.audit import record_event
from arqlab.notices.models import Kind
from arqlab.notices.services.notifying import notify
from assessment.models import Pool, PoolItem, Round
from assessment.rounds.services.making import RoundPlan, make_round

NO_NOTE = "Read the guidelines before you start."


@transaction.atomic
def make_announced_round(*, task: Task, plan: RoundPlan, by: User, at: datetime) -> Round:
    """Make a round and notify its assessors. Raises as `make_round` does."""
    made = make_round(task=task, plan=plan, by=by, at=at)
    announce_round(made, items={key: len(copies) for key, copies in plan.items.items()}, by=by)
    return made


def announce_round(found: Round, *, items: Mapping[int, int], by: User) -> None:
    """Notify assessors of their items in a round, by number; call it in the same transaction."""
    task = found.task
    for person in User.objects.filter(pk__in=items).exclude(pk=by.pk):
        count = items[person.pk]
        notify(
            lab=task.lab,
            kind=Kind.ROUND_STARTED,
            people=[person] if count else [],
            path=reverse("assessment:judging-home", args=[task.lab.slug]) + "#rounds",
            key=f"round-started {found.pk}",
            values={
                "task": task.name,
                "person": by.name,
                "round": str(found),
                "items": f"{count} item{'s' * (count != 1)}",
                "note": found.note or NO_NOTE,
            },
        )


@transaction.atomic
def reveal_round(*, found: Round, by: User | None, at: datetime) -> None:
    """Show the votes of a round to its assessors and close it for judging.

    After the reveal, nobody votes: who knows the votes of others no longer judges alone. Raise
    `UserError` if the votes are already revealed (`revealed`).
    """
    if not Round.objects.filter(pk=found.pk, revealed_at=None).update(revealed_at=at):
        raise UserError("The votes of this round are already revealed.", code="revealed")
    Pool.objects.filter(round=found, closed_at=None).update(closed_at=at)
    items = PoolItem.objects.filter(pool__round=found).order_by()
    record_event(
        verb="round.reveal",
        target=found,
        lab=found.task.lab,
        actor=by,
        round=found.key,
        open_items=items.filter(done_at=None).count(),
    )
    args = [found.task.lab.slug, found.task.slug, found.number]
    notify(
        lab=found.task.lab,
        kind=Kind.ROUND_REVEALED,
        people=User.objects.filter(pk__in=items.values("assessor")).exclude(pk=by.pk if by else 0),
        path=reverse("assessment:training-detail", args=args),
        key=f"round-revealed {found.pk}",
        values={"task": found.task.name, "round": str(found)},
    )
    found.refresh_from_db()


def reveal_if_complete(found: Round, *, at: datetime) -> None:
    """Reveal the votes of a round if all are in and nobody revealed them yet."""
    if found.revealed_at or PoolItem.objects.filter(pool__round=found, done_at=None).exists():
        return
    try:
        reveal_round(found=found, by=None, at=at)
    except UserError:  # another request came first
        found.refresh_from_db()
