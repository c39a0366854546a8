"""An assessor's own work in a lab: hours, agreement in rounds, and tickets."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import Q, QuerySet

from arqlab.core.models import Lab, User
from assessment.hours.selectors import zone_words
from assessment.judging.selectors.own_work import OwnHours, own_hours
from assessment.models import Round, Ticket
from assessment.rounds.selectors.votes import round_agreement
from assessment.tickets.selectors import own_answered_tickets, tickets_of


class OwnAgreement(NamedTuple):
    """An assessor's mean pairwise kappa in a round, and the mean over all assessors.

    `graded` and `binary` are pairs of the own value and the mean; a value may be undefined.
    """

    round: Round
    items: int
    graded: tuple[float | None, float | None]
    binary: tuple[float | None, float | None]


def own_agreements(lab: Lab, user: User) -> list[OwnAgreement]:
    """Return the agreement of an assessor in each revealed round of a lab, newest round first.

    A completed round counts as revealed when it is closed. The first assessors of second judgments
    are among those compared. Intervals are left out: they take most of the time, and the page of a
    training round has them.
    """
    is_closed = Q(revealed_at__isnull=False) | Q(pool__closed_at__isnull=False)
    rounds = Round.objects.filter(is_closed, task__lab=lab).opened()
    key, agreements = str(user.pk), []
    for round_ in rounds.select_related("pool", "gold", "task__lab").order_by("-pk"):
        agreement = round_agreement(round_, resamples=0)
        if agreement and key in agreement.judged:
            graded, binary = (
                (coefficients.assessors[key].value, coefficients.total.value)
                for coefficients in (agreement.graded, agreement.binary)
            )
            agreements.append(OwnAgreement(round_, agreement.judged[key], graded, binary))
    return agreements


@dataclass(frozen=True, kw_only=True)
class OwnWorkPage:
    """An assessor's own work in a lab, with hours in the time zone that `zone` names.

    - open_tickets, answered: the number of tickets without an answer, and those with one.
    """

    hours: OwnHours
    zone: str
    open_tickets: int
    answered: QuerySet[Ticket]
    agreements: Sequence[OwnAgreement]
    is_own: bool = True


def own_work_of(lab: Lab, user: User) -> OwnWorkPage:
    """Return what an assessor did in a lab."""
    hours = own_hours(lab, user)
    return OwnWorkPage(
        hours=hours,
        zone=zone_words(hours.sheet.rule.time_zone),
        open_tickets=tickets_of(lab).filter(judgment__assessor=user, answered_at=None).count(),
        answered=own_answered_tickets(lab, user),
        agreements=own_agreements(lab, user),
    )
