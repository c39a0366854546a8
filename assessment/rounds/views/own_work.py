"""The page on which assessors see their own work."""

from typing import NamedTuple

from django.db.models import Q
from django.http import HttpRequest, HttpResponse, HttpResponseBase

from arqlab.core.models import Lab, User
from arqlab.core.views import signed_in
from arqlab.labs.permissions import looked_up_lab_or_404
from arqlab.web import LAB, Column, Pages, Table, answer, cells, file_response
from assessment.hours.selectors import SheetPart, sheet_lines, time_sheet_of, zone_words
from assessment.judging.selectors.own_work import own_hours
from assessment.judging.views.own_work import own_tables
from assessment.models import Round
from assessment.rounds.selectors.votes import round_agreement
from assessment.tickets.selectors import own_answered_tickets, tickets_of

pages = Pages(f"{LAB}judging/work/", looked_up_lab_or_404, section="judging", sign_in=True)


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


@pages.read("", "judging-work")
def your_work(request: HttpRequest, lab: Lab) -> HttpResponse:
    """Show the user's own progress, pace, hours, agreement and answered tickets."""
    user = signed_in(request)
    hours = own_hours(lab, user)
    context = {
        "hours": hours,
        "zone": zone_words(hours.sheet.rule.time_zone),
        "open_tickets": tickets_of(lab).filter(judgment__assessor=user, answered_at=None).count(),
        "is_own": True,
    }
    tables = own_tables(lab, hours, own_answered_tickets(lab, user))
    return answer(
        request, "assessment/your_work.html", context, *tables, _agreement_table(lab, user)
    )


def _agreement_table(lab: Lab, user: User) -> Table[OwnAgreement]:
    return Table[OwnAgreement](
        "own-agreement",
        [
            Column(
                "Round",
                lambda row: row.round,
                link=lambda row: row.round.rules.shows_page_to_judges and row.round.address,
                is_head=True,
            ),
            Column("Task", lambda row: row.round.task.name, css="wrap"),
            Column("Items", lambda row: row.items, cells.COUNT),
            Column("Your kappa", lambda row: row.graded[0], cells.HUNDREDTHS),
            Column("All assessors", lambda row: row.graded[1], cells.HUNDREDTHS),
            Column("Your kappa, binary", lambda row: row.binary[0], cells.HUNDREDTHS),
            Column("All assessors, binary", lambda row: row.binary[1], cells.HUNDREDTHS),
        ],
        own_agreements(lab, user),
        caption="Mean pairwise Cohen’s kappa with the other assessors, and the mean over all "
        "assessors. Binary: whether an item is relevant.",
    )


@pages.read("csv/", "judging-work-csv")
def your_work_csv(request: HttpRequest, lab: Lab) -> HttpResponseBase:
    """Return the user's own time sheet as CSV."""
    sheet = time_sheet_of(lab, person=signed_in(request)).part(SheetPart())
    return file_response(sheet_lines(sheet), f"{lab.slug}-own-time-sheet.csv")
