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


def announce_round(round_: Round, *, items: Mapping[int, int], by: User) -> None:
    """Notify assessors of their items in a round, by number; call it in the same transaction."""
    task = round_.task
    for person in User.objects.filter(pk__in=items).exclude(pk=by.pk):
        count = items[person.pk]
        notify(
            lab=task.lab,
            kind=Kind.ROUND_STARTED,
            people=[person] if count else [],
            path=reverse("assessment:judging-home", args=[task.lab.slug]) + "#rounds",
            key=f"round-started {round_.pk}",
            values={
                "task": task.name,
                "person": by.name,
                "round": str(round_),
                "items": f"{count} item{'s' * (count != 1)}",
                "note": round_.note or NO_NOTE,
            },
        )


@transaction.atomic
def reveal_round(*, round_: Round, by: User | None, at: datetime) -> None:
    """Show the labels of a round and close it for judging.

    From now on organizers see them, and in a training round its assessors, who get a notice. Nobody
    judges after the reveal: labels would no longer be independent of those of others. Raise
    `UserError` if the labels are already revealed (`revealed`).
    """
    if not Round.objects.filter(pk=round_.pk, revealed_at=None).update(revealed_at=at):
        raise UserError("The votes of this round are already revealed.", code="revealed")
    Pool.objects.filter(round=round_, closed_at=None).update(closed_at=at)
    items = PoolItem.objects.filter(pool__round=round_).order_by()
    record_event(
        verb="round.reveal",
        target=round_,
        lab=round_.task.lab,
        actor=by,
        round=round_.key,
        open_items=items.filter(done_at=None).count(),
    )
    if round_.kind == Round.Kind.TRAINING:
        _announce_votes(round_, items, by)
    round_.refresh_from_db()


def _announce_votes(round_: Round, items: QuerySet[PoolItem], by: User | None) -> None:
    args = [round_.task.lab.slug, round_.task.slug, round_.number]
    notify(
        lab=round_.task.lab,
        kind=Kind.ROUND_REVEALED,
        people=User.objects.filter(pk__in=items.values("assessor")).exclude(pk=by.pk if by else 0),
        path=reverse("assessment:training-detail", args=args),
        key=f"round-revealed {round_.pk}",
        values={"task": round_.task.name, "round": str(round_)},
    )


@transaction.atomic
def archive_round(*, round_: Round, by: User, at: datetime) -> None:
    """Archive a round: nobody can judge it any more, and lists omit it. Nothing is deleted."""
    Pool.objects.filter(round=round_, closed_at=None).update(closed_at=at)
    if Round.objects.filter(pk=round_.pk, archived_at=None).update(archived_at=at, token=None):
        _record("round.archive", round_, by)


@transaction.atomic
def restore_round(*, round_: Round, by: User) -> None:
    """Return an archived round to the lists. It stays closed until it is opened for judging."""
    if Round.objects.filter(pk=round_.pk, archived_at__isnull=False).update(archived_at=None):
        _record("round.restore", round_, by)


@transaction.atomic
def discard_round(*, round_: Round, by: User) -> None:
    """Delete a round that nobody has judged. Raise `UserError` if somebody has (`judged`)."""
    Task.objects.select_for_update(no_key=True).get(pk=round_.task_id)  # applicants wait
    # A submitted label locks its item: either we see the label, or the submit finds no item.
    items = PoolItem.objects.filter(pool__round=round_)
    list(items.select_for_update(of=("self",)).order_by("pk").values_list("pk"))
    if Judgment.objects.filter(instance__item__pool__round=round_).exists():
        raise UserError("This round has judgments. Archive it instead.", code="judged")
    if round_.applicants.exists():
        raise UserError("This sample task has applicants. Archive it instead.", code="applicants")
    _record("round.discard", round_, by, items=items.count())
    PoolInstance.objects.filter(item__pool__round=round_).delete()
    Pool.objects.filter(round=round_).delete()
    round_.delete()


def _record(verb: str, round_: Round, by: User, **detail: int) -> None:
    record_event(
        verb=verb, target=round_, lab=round_.task.lab, actor=by, round=round_.key, **detail
    )
