"""The organizers' pages of a collection: its contents, imports and their problems."""

from django.core.paginator import Paginator
from django.db.models import F
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from arqlab.core.models import Lab
from arqlab.labs.permissions import organized_lab_or_404
from arqlab.web import (
    LAB,
    Column,
    Empty,
    Pages,
    Tab,
    Table,
    cells,
    news,
    organizers,
    problem_table,
    to,
)
from collection.models import Import
from collection.selectors.collections import collection_of
from collection.selectors.imports import (
    ImportRow,
    holdings_of,
    import_row,
    import_rows,
    missing_parts,
)

pages = Pages(f"{LAB}collection/", organized_lab_or_404, section="collection")

PROBLEMS_A_PAGE = 100


@pages.read("", "collection-detail", tabs=(Tab("lab", "Collection", 40, organizers),))
def collection_detail(request: HttpRequest, lab: Lab) -> HttpResponse:
    """Show the contents of the lab's collection, missing data and imports."""
    collection = collection_of(lab)
    context: dict[str, object] = {"collection": collection}
    if collection is not None:
        rows = import_rows(collection, at=timezone.now())
        holdings = holdings_of(collection)
        context |= {
            "imports": _imports_table(lab, rows),
            "holdings": holdings,
            "steps": [row for row in rows if row.needs_attention],
            "lacks": missing_parts(collection, holdings, rows),
        }
    return render(request, "collection/collection_detail.html", context)


def _imports_table(lab: Lab, rows: list[ImportRow]) -> Table[ImportRow]:
    return Table[ImportRow](
        "imports",
        [
            Column(
                "File",
                lambda row: row.record.source,
                link=to("collection:import-detail", lab.slug, of=lambda row: row.record.pk),
                is_head=True,
            ),
            Column("Type", lambda row: row.record.label),
            Column("State", lambda row: cells.chip(row.look, row.words)),
            Column("Rows", lambda row: row.record.rows, cells.COUNT),
            Column("Kept", lambda row: row.record.kept, cells.COUNT),
            Column("Problems", lambda row: row.record.problem_count, cells.COUNT),
            Column("Last batch", lambda row: row.record.updated_at, cells.TIME),
        ],
        rows,
        empty=Empty(
            "No imports yet",
            "Each imported file appears here with its rows, the rows kept and its problems.",
        ),
    )


@pages.read("imports/<number:record>/", "import-detail")
def import_detail(request: HttpRequest, lab: Lab, record: int) -> HttpResponse:
    """Show the import of a file: rows read, kept and skipped, and its problems by line."""
    collection = collection_of(lab)
    row = import_row(collection, record, at=timezone.now()) if collection else None
    if row is None:
        raise Http404
    # By file and line, the problems of whole files first.
    problems = row.record.problems.order_by("source", F("line").asc(nulls_first=True), "pk")
    page = Paginator(problems, PROBLEMS_A_PAGE).get_page(request.GET.get("page"))
    table = problem_table(
        problems,
        count=row.record.problem_count,
        page=page,
        file=f"problems-of-import-{row.record.pk}",
    )
    context = {
        "row": row,
        "record": row.record,
        "is_running": row.state == Import.State.RUNNING,
        "seen": f"{row.state}-{row.record.rows}-{row.record.problem_count}",
    }
    return news(request, "collection/import_detail.html", context, table)
