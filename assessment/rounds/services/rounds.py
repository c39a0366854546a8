"""Rounds: made with copies of items for each assessor, announced, revealed, put away."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from django.db import transaction
from django.db.models import Max
from django.urls import reverse

from arqkit.labels import LabelScale
from arqlab.audit.services.recording import record_event
from arqlab.core.errors import UserError
from arqlab.core.models import Membership, Task, User
from arqlab.labs.services.archiving import require_unarchived
from arqlab.labs.services.people import grant_role
from arqlab.notices.models import Kind
from arqlab.notices.services.notifying import notify
from arqlab.web import url_of
from assessment.models import Applicant, Judgment, Pool, PoolInstance, PoolItem, QrelSet, Round
from assessment.qrels.selectors.drafts import task_scale
from assessment.rounds.selectors.rounds import CopiedItem, complete_rounds, copied_items

NO_NOTE = "Read the guidelines before you start."

AT_ONCE = 500  # rows per INSERT

HIGHEST_SCORE = 100


def announce_round(
    round_: Round, items: Mapping[int, int], *, by: User, note: str = "", key: str = ""
) -> None:
    """Notify assessors of their items in a round, by number; call it in the same transaction.

    The notice has the note of the round, or another one. Of notices with the same `key`, by default
    that of the round, each gets one.
    """
    task = round_.task
    for person in User.objects.filter(pk__in=items).exclude(pk=by.pk):
        count = items[person.pk]
        notify(
            task,
            Kind.ROUND_STARTED,
            [person] if count else [],
            path=reverse("assessment:judging-home", args=[task.lab.slug]) + "#rounds",
            key=key or f"round-started {round_.pk}",
            person=by.name,
            round=str(round_),
            items=f"{count} item{'s' * (count != 1)}",
            note=note or round_.note or NO_NOTE,
        )


@transaction.atomic
def reveal_round(*, round_: Round, by: User | None, at: datetime) -> None:
    """Show the labels of a round and close it for judging.

    From now on organizers see them, and if the kind says so its assessors, who get a notice. Nobody
    judges after the reveal: labels would no longer be independent of those of others. Raise
    `UserError` if the labels are already revealed (`revealed`), or are never (`not-revealed`).
    """
    if not round_.rules.can_be_revealed:
        raise UserError("The labels of this round are never revealed.", code="not-revealed")
    if not Round.objects.filter(pk=round_.pk, revealed_at=None).update(revealed_at=at):
        raise UserError("The votes of this round are already revealed.", code="revealed")
    Pool.objects.filter(round=round_, closed_at=None).update(closed_at=at)
    items = PoolItem.objects.filter(pool__round=round_).order_by()
    record_round("round.reveal", round_, by, open_items=items.filter(done_at=None).count())
    if round_.rules.tells_judges:
        notify(
            round_.task,
            Kind.ROUND_REVEALED,
            User.objects.filter(pk__in=items.values("assessor")).exclude(pk=by.pk if by else 0),
            path=round_.address,
            key=f"round-revealed {round_.pk}",
            round=str(round_),
        )
    round_.refresh_from_db()


@transaction.atomic
def archive_round(*, round_: Round, by: User, at: datetime) -> None:
    """Archive a round: nobody can judge it any more, and lists omit it. Nothing is deleted."""
    Pool.objects.filter(round=round_, closed_at=None).update(closed_at=at)
    if Round.objects.filter(pk=round_.pk, archived_at=None).update(archived_at=at, token=None):
        record_round("round.archive", round_, by)


@transaction.atomic
def restore_round(*, round_: Round, by: User) -> None:
    """Return an archived round to the lists. It stays closed until it is opened for judging."""
    if Round.objects.filter(pk=round_.pk, archived_at__isnull=False).update(archived_at=None):
        record_round("round.restore", round_, by)


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
    record_round("round.discard", round_, by, items=items.count())
    PoolInstance.objects.filter(item__pool__round=round_).delete()
    Pool.objects.filter(round=round_).delete()
    round_.delete()


def record_round(verb: str, round_: Round, by: User | None, **detail: int) -> None:
    """Record what somebody did with a round."""
    record_event(verb, round_, by, round=round_.key, **detail)


@transaction.atomic
def start_round(*, task: Task, plan: RoundPlan, by: User, at: datetime) -> Round:
    """Make a round and notify its assessors, or open its link. Raises as `make_round` does."""
    round_ = make_round(task=task, plan=plan, by=by, at=at)
    if round_.rules.is_for_applicants:
        renew_link(round_=round_, by=by)
    else:
        announce_round(round_, {key: len(copies) for key, copies in plan.items.items()}, by=by)
    return round_


@transaction.atomic
def renew_link(*, round_: Round, by: User) -> None:
    """Open a new link to a sample task; the earlier link stops working."""
    round_.token = secrets.token_urlsafe(24)
    round_.save(update_fields=["token"])
    record_round("round.renew-link", round_, by)


@transaction.atomic
def close_link(*, round_: Round, by: User) -> None:
    """Close the link to a sample task; those who applied before can continue."""
    round_.token = None
    round_.save(update_fields=["token"])
    record_round("round.close-link", round_, by)


def reveal_complete(*, at: datetime) -> None:
    """Reveal the votes of each round whose assessors wait for them, when all are in."""
    for round_ in complete_rounds():
        with suppress(UserError):  # an organizer came first
            reveal_round(round_=round_, by=None, at=at)


@dataclass(frozen=True)
class RoundPlan:
    """A round before it is made: its kind, its texts, and the items of each assessor (by key).

    `source` says how the items were chosen; it is stored as it is.
    """

    kind: str
    items: Mapping[int, Sequence[CopiedItem]]
    title: str = ""
    note: str = ""
    source: Mapping[str, object] = field(default_factory=dict)
    gold: QrelSet | None = None
    scale: LabelScale | None = None


@transaction.atomic
def make_round(*, task: Task, plan: RoundPlan, by: User | None, at: datetime) -> Round:
    """Store a round with a copy of the items for each of its assessors.

    Raises `UserError` if nobody has an item (`nothing-to-judge`).
    """
    if not any(plan.items.values()):
        raise UserError(
            "The round has no items to judge. Choose topics with items, and assessors.",
            code="nothing-to-judge",
        )
    # Of two organizers who make a round at once, the second waits and gets the next number.
    Task.objects.select_for_update(no_key=True).get(pk=task.pk)
    others = Round.objects.filter(task=task, kind=plan.kind)
    round_ = Round.objects.create(
        task=task,
        kind=plan.kind,
        number=(others.aggregate(last=Max("number"))["last"] or 0) + 1,
        title=plan.title,
        note=plan.note,
        source=dict(plan.source),
        gold=plan.gold,
        made_by=by,
        made_at=at,
    )
    seed = plan.source.get("seed")
    pool = Pool.objects.create(
        task=task,
        round=round_,
        number=1,
        settings={},
        scale=(plan.scale or task_scale(task)).rows(),
        seed=seed if isinstance(seed, int) else 0,
        runs=[],
        sha256=_hash(plan.items),
        frozen_at=at,
        frozen_by=by,
    )
    add_items(pool, plan.items)
    counts = [len(items) for items in plan.items.values() if items]
    record_round("round.make", round_, by, assessors=len(counts), items=sum(counts))
    return round_


def add_items(pool: Pool, items: Mapping[int, Sequence[CopiedItem]]) -> None:
    """Add copies of items to a round, after those that an assessor has; the caller locks the task.

    A copy that the assessor already has is left out.
    """
    pool_rows = pool.items.order_by().values_list("assessor", "topic", "item", "position")
    item_keys = {(assessor, topic, item) for assessor, topic, item, _ in pool_rows}
    last: dict[tuple[int | None, int], int] = {}
    for assessor, topic, _, position in pool_rows:
        last[assessor, topic] = max(position, last.get((assessor, topic), 0))
    rows: list[tuple[PoolItem, CopiedItem]] = []
    for person, copies in items.items():
        for copy in copies:
            if (person, copy.topic_id, copy.item) in item_keys:
                continue
            item_keys.add((person, copy.topic_id, copy.item))
            last[person, copy.topic_id] = position = last.get((person, copy.topic_id), 0) + 1
            fields = {"topic_id": copy.topic_id, "kind": copy.kind, "item": copy.item}
            row = PoolItem(pool=pool, assessor_id=person, position=position, **fields)
            row.text = copy.text
            rows.append((row, copy))
    PoolItem.objects.bulk_create([row for row, _ in rows], batch_size=AT_ONCE)
    PoolInstance.objects.bulk_create(
        (
            PoolInstance(item=row, position=position, **instance._asdict())
            for row, copy in rows
            for position, instance in enumerate(copy.instances)
        ),
        batch_size=AT_ONCE,
    )


def _hash(items: Mapping[int, Sequence[CopiedItem]]) -> str:
    """Return a hash of who judges which items, to be the hash of the pool."""
    rows = {
        person: [[copy.topic_id, copy.item] for copy in items[person]] for person in sorted(items)
    }
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()


class Rating(NamedTuple):
    """The expert's opinion of an applicant, and the organizers' decision."""

    score: int | None
    note: str
    decision: str


@transaction.atomic
def apply_to_round(*, round_: Round, user: User, at: datetime) -> Applicant:
    """Copy the sample items for an applicant; nothing changes if they applied before.

    Raise `UserError` for the expert (`is-expert`), if judging is closed (`pool-closed`), or if the
    lab is archived.
    """
    task = round_.task
    require_unarchived(task.lab)
    # Of two requests of the same person, the second waits and finds the first's application.
    Task.objects.select_for_update(no_key=True).get(pk=task.pk)
    if user.pk == round_.expert:
        raise UserError("You are the expert of this sample task.", code="is-expert")
    applicant = Applicant.objects.filter(round=round_, user=user).first()
    if applicant:
        return applicant
    if round_.pool.closed_at or task.archived_at:
        raise UserError(
            "This sample task is closed. Ask the organizers for another one.", code="pool-closed"
        )
    samples = round_.pool.items.filter(assessor=round_.expert)
    add_items(round_.pool, {user.pk: copied_items(samples)})
    record_round("round.apply", round_, user)
    return Applicant.objects.create(round=round_, user=user, applied_at=at)


@transaction.atomic
def rate_applicant(*, applicant: Applicant, rating: Rating, by: User, at: datetime) -> None:
    """Store the score, the note and the decision about an applicant.

    An accepted applicant becomes an assessor of the lab and gets a notice. The People page can
    remove the role again. Raise `UserError` for an unknown score or decision.
    """
    if rating.decision not in Applicant.Decision.values or not (
        rating.score is None or 0 <= rating.score <= HIGHEST_SCORE
    ):
        raise UserError(
            f"Choose a decision, and a score from 0 to {HIGHEST_SCORE}.", code="bad-rating"
        )
    # Lock the applicant: of two organizers who decide at once, the role is granted once.
    locked = Applicant.objects.select_for_update().get(pk=applicant.pk)
    is_decided = locked.decision != rating.decision
    locked.score, locked.note, locked.decision = rating
    if is_decided:
        locked.decided_by, locked.decided_at = by, at
    locked.save()
    round_ = applicant.round
    record_event(
        "round.rate-applicant",
        applicant,
        by,
        lab=round_.task.lab,
        round=round_.key,
        score=rating.score,
        decision=rating.decision,
    )
    if is_decided and rating.decision == Applicant.Decision.ACCEPTED:
        _accept(applicant, by)


def _accept(applicant: Applicant, by: User) -> None:
    round_, lab = applicant.round, applicant.round.task.lab
    grant_role(lab=lab, user=applicant.user, role=Membership.Role.ASSESSOR, by=by)
    notify(
        lab,
        Kind.APPLICATION_ACCEPTED,
        [applicant.user],
        path=url_of("lab", lab.slug),
        key=f"application-accepted {applicant.pk}",
        person=by.name,
        round=str(round_),
    )
