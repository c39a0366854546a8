"""Selection of assessors with sample tasks: the link, applications, and the expert's scores."""

from __future__ import annotations

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
from assessment.rounds.services.rounds import add_items, record_round

HIGHEST_SCORE = 100


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
    known = Applicant.objects.filter(round=round_, user=user).first()
    if known:
        return known
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
    known = Applicant.objects.select_for_update().get(pk=applicant.pk)
    is_decided = known.decision != rating.decision
    known.score, known.note, known.decision = rating
    if is_decided:
        known.decided_by, known.decided_at = by, at
    known.save()
    round_ = applicant.round
    record_event(
        verb="round.rate-applicant",
        target=applicant,
        lab=round_.task.lab,
        actor=by,
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
        lab=lab,
        kind=Kind.APPLICATION_ACCEPTED,
        people=[applicant.user],
        path=reverse("desk:lab-detail", args=[lab.slug]),
        key=f"application-accepted {applicant.pk}",
        values={"person": by.name, "round": str(round_)},
    )
