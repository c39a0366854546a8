"""The states of rounds: announced, revealed, archived or discarded."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse

from arqlab.core.errors import UserError
from arqlab.core.models import Task, User
from arqlab.core.services.audit import record_event
from arqlab.notices.models import Kind
from arqlab.notices.services.notifying import notify
from assessment.models import Judgment, Pool, PoolInstance, PoolItem, Round

NO_NOTE = "Read the guidelines before you start."


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
    """Show the labels of a round and close it for judging.

    Organizers see them from now on, in a training round its assessors too, who get a notice. After
    the reveal, nobody judges: who knows the labels of others no longer judges alone. Raise
    `UserError` if the labels are already revealed (`revealed`).
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
    if found.kind == Round.Kind.TRAINING:
        _announce_votes(found, items, by)
    found.refresh_from_db()


def _announce_votes(found: Round, items: QuerySet[PoolItem], by: User | None) -> None:
    args = [found.task.lab.slug, found.task.slug, found.number]
    notify(
        lab=found.task.lab,
        kind=Kind.ROUND_REVEALED,
        people=User.objects.filter(pk__in=items.values("assessor")).exclude(pk=by.pk if by else 0),
        path=reverse("assessment:training-detail", args=args),
        key=f"round-revealed {found.pk}",
        values={"task": found.task.name, "round": str(found)},
    )


@transaction.atomic
def archive_round(*, found: Round, by: User, at: datetime) -> None:
    """Put a round away: nobody judges it any more, and it leaves the lists. Nothing is deleted."""
    Pool.objects.filter(round=found, closed_at=None).update(closed_at=at)
    if Round.objects.filter(pk=found.pk, archived_at=None).update(archived_at=at, token=None):
        _record("round.archive", found, by)


@transaction.atomic
def restore_round(*, found: Round, by: User) -> None:
    """Return an archived round to the lists. It stays closed until it is opened for judging."""
    if Round.objects.filter(pk=found.pk, archived_at__isnull=False).update(archived_at=None):
        _record("round.restore", found, by)


@transaction.atomic
def discard_round(*, found: Round, by: User) -> None:
    """Delete a round that nobody has judged. Raise `UserError` if somebody has (`judged`)."""
    Task.objects.select_for_update(no_key=True).get(pk=found.task_id)  # applicants wait
    # A submitted label locks its item: either we see the label, or the submit finds no item.
    items = PoolItem.objects.filter(pool__round=found)
    list(items.select_for_update(of=("self",)).order_by("pk").values_list("pk"))
    if Judgment.objects.filter(instance__item__pool__round=found).exists():
        raise UserError("Somebody has judged in this round. Archive it instead.", code="judged")
    if found.applicants.exists():
        raise UserError("This sample task has applicants. Archive it instead.", code="applicants")
    _record("round.discard", found, by, items=items.count())
    PoolInstance.objects.filter(item__pool__round=found).delete()
    Pool.objects.filter(round=found).delete()
    found.delete()


def _record(verb: str, found: Round, by: User, **detail: int) -> None:
    record_event(verb=verb, target=found, lab=found.task.lab, actor=by, round=found.key, **detail)
