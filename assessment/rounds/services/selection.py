"""Selection of assessors with sample tasks: the link, applications, and the expert's scores."""

from __future__ import annotations

import secrets
from datetime import datetime
from typing import NamedTuple

from django.db import transaction
from django.urls import reverse

from arqlab.core.errors import UserError
from arqlab.core.models import Membership, Task, User
from arqlab.core.services.archiving import require_unarchived
from arqlab.core.services.audit import record_event
from arqlab.core.services.people import grant_role
from arqlab.notices.models import Kind
from arqlab.notices.services.notifying import notify
from assessment.models import Applicant, Round
from assessment.rounds.selectors.rounds import copied_items
from assessment.rounds.selectors.selection import expert_of
from assessment.rounds.services.making import RoundPlan, add_items, make_round

HIGHEST_SCORE = 100


class Rating(NamedTuple):
    """What the expert thinks about an applicant, and what the organizers decided."""

    score: int | None
    note: str
    decision: str


@transaction.atomic
def make_sample(*, task: Task, plan: RoundPlan, by: User, at: datetime) -> Round:
    """Make a sample task whose only assessor is the expert, and open its link.

    Applicants get copies of the expert's items. Raises as `make_round` does.
    """
    made = make_round(task=task, plan=plan, by=by, at=at)
    renew_link(found=made, by=by)
    return made


@transaction.atomic
def renew_link(*, found: Round, by: User) -> None:
    """Open a new link to a sample task; an earlier link no longer works."""
    found.token = secrets.token_urlsafe(24)
    found.save(update_fields=["token"])
    _record(found, "round.renew-link", by)


@transaction.atomic
def close_link(*, found: Round, by: User) -> None:
    """Close the link to a sample task; who applied before can go on."""
    found.token = None
    found.save(update_fields=["token"])
    _record(found, "round.close-link", by)


@transaction.atomic
def apply_to_round(*, found: Round, user: User, at: datetime) -> Applicant:
    """Copy the sample items for an applicant; nothing changes if they applied before.

    Raise `UserError` for the expert (`is-expert`), if judging is closed (`pool-closed`), or if the
    lab is archived.
    """
    task = found.task
    require_unarchived(task.lab)
    # Of two requests of the same person, the second waits and finds the first's application.
    Task.objects.select_for_update(no_key=True).get(pk=task.pk)
    expert = expert_of(found)
    if user.pk == expert:
        raise UserError("You are the expert of this sample task.", code="is-expert")
    known = Applicant.objects.filter(round=found, user=user).first()
    if known:
        return known
    if found.pool.closed_at or task.archived_at:
        raise UserError(
            "This sample task is closed. Ask the organizers for another one.", code="pool-closed"
        )
    add_items(found.pool, {user.pk: copied_items(found.pool.items.filter(assessor=expert))})
    _record(found, "round.apply", user)
    return Applicant.objects.create(round=found, user=user, applied_at=at)


@transaction.atomic
def rate_applicant(*, applicant: Applicant, rating: Rating, by: User, at: datetime) -> None:
    """Store the score, the note and the decision about an applicant.

    Who is accepted becomes an assessor of the lab and gets a notice. To take the role away again,
    use the page of the lab's people. Raise `UserError` for an unknown score or decision.
    """
    if rating.decision not in Applicant.Decision.values or not (
        rating.score is None or 0 <= rating.score <= HIGHEST_SCORE
    ):
        raise UserError(
            f"Choose a decision, and a score from 0 to {HIGHEST_SCORE}.", code="bad-rating"
        )
    known = Applicant.objects.select_for_update().get(pk=applicant.pk)
    is_decided = known.decision != rating.decision
    known.score, known.note, known.decision = rating
    if is_decided:
        known.decided_by, known.decided_at = by, at
    known.save()
    found = applicant.round
    record_event(
        verb="round.rate-applicant",
        target=applicant,
        lab=found.task.lab,
        actor=by,
        round=found.key,
        score=rating.score,
        decision=rating.decision,
    )
    if is_decided and rating.decision == Applicant.Decision.ACCEPTED:
        _accept(applicant, by)


def _accept(applicant: Applicant, by: User) -> None:
    found, lab = applicant.round, applicant.round.task.lab
    grant_role(lab=lab, user=applicant.user, role=Membership.Role.ASSESSOR, by=by)
    notify(
        lab=lab,
        kind=Kind.APPLICATION_ACCEPTED,
        people=[applicant.user],
        path=reverse("desk:lab-detail", args=[lab.slug]),
        key=f"application-accepted {applicant.pk}",
        values={"person": by.name, "round": str(found)},
    )


def _record(found: Round, verb: str, by: User) -> None:
    record_event(verb=verb, target=found, lab=found.task.lab, actor=by, round=found.key)
