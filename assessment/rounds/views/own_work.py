"""The page on which assessors see their own work."""

from collections.abc import Sequence

from django.http import HttpRequest, HttpResponse, HttpResponseBase

from arqlab.core.models import Lab
from arqlab.core.views import signed_in
from arqlab.labs.permissions import looked_up_lab_or_404
from arqlab.web import LAB, Column, Pages, Table, answer, cells, context_of, file_response
from assessment.hours.selectors import SheetPart, sheet_lines, time_sheet_of
from assessment.judging.views.own_work import own_tables
from assessment.rounds.selectors.own_work import OwnAgreement, own_work_of

pages = Pages(f"{LAB}judging/work/", looked_up_lab_or_404, section="judging", sign_in=True)


@pages.read("", "judging-work")
def your_work(request: HttpRequest, lab: Lab) -> HttpResponse:
    """Show the user's own progress, pace, hours, agreement and answered tickets."""
    work = own_work_of(lab, signed_in(request))
    tables = own_tables(lab, work.hours, work.answered)
    context = context_of(work)
    return answer(
        request, "assessment/your_work.html", context, *tables, _agreement_table(work.agreements)
    )


def _agreement_table(rows: Sequence[OwnAgreement]) -> Table[OwnAgreement]:
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
        rows,
        caption="Mean pairwise Cohen’s kappa with the other assessors, and the mean over all "
        "assessors. Binary: whether an item is relevant.",
    )


@pages.read("csv/", "judging-work-csv")
def your_work_csv(request: HttpRequest, lab: Lab) -> HttpResponseBase:
    """Return the user's own time sheet as CSV."""
    sheet = time_sheet_of(lab, person=signed_in(request)).part(SheetPart())
    return file_response(sheet_lines(sheet), f"{lab.slug}-own-time-sheet.csv")
