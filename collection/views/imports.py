"""The organizers' pages of a collection: its contents, imports and their problems."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils import timezone

from arqkit.formats.tables import tsv_lines
from arqlab.core.models import Lab
from arqlab.core.permissions import organized_lab_or_404
from arqlab.web.downloads import file_response
from arqlab.web.pages import LAB, Pages
from collection.models import Import
from collection.selectors.collections import collection_of
from collection.selectors.imports import (
    ImportRow,
    holdings_of,
    import_row,
    import_rows,
    missing_parts,
    problems_of,
)

pages = Pages(f"{LAB}collection/", section="collection")

PROBLEMS_A_PAGE = 100
COLUMNS = ("source", "line", "found", "expected", "todo")


@pages.read("", "collection-detail", access=organized_lab_or_404)
def collection_detail(request: HttpRequest, lab: Lab) -> HttpResponse:
    """Show the contents of the lab's collection, missing data and imports."""
    collection = collection_of(lab)
    context: dict[str, Any] = {"lab": lab, "collection": collection}
    if collection is not None:
        rows = import_rows(collection, at=timezone.now())
        holdings = holdings_of(collection)
        context |= {
            "rows": rows,
            "holdings": holdings,
            "steps": [row for row in rows if row.needs_attention],
        }
        context |= {"lacks": missing_parts(collection, holdings, rows)}
    return render(request, "collection/collection_detail.html", context)


@pages.read("imports/<int:record>/", "import-detail")
def import_detail(request: HttpRequest, lab: str, record: int) -> HttpResponse:
    """Show the import of a file: rows read, kept and skipped, and its problems by line."""
    organized_lab, row = _import_or_404(request, lab, record)
    return render(request, "collection/import_detail.html", _context(request, organized_lab, row))


@pages.read("imports/<int:record>/status/", "import-status")
def import_status(request: HttpRequest, lab: str, record: int) -> HttpResponse:
    """Return the part of the import page that changes, which a running import polls."""
    organized_lab, row = _import_or_404(request, lab, record)
    if request.GET.get("seen") == _seen(row):
        return HttpResponse(status=204)  # nothing is new: htmx leaves the page as it is
    return render(request, "collection/import_status.html", _context(request, organized_lab, row))


@pages.read("imports/<int:record>/problems.tsv", "import-problems")
def import_problems(request: HttpRequest, lab: str, record: int) -> HttpResponseBase:
    """Return the problems of an import as TSV, with all columns."""
    _, row = _import_or_404(request, lab, record)
    problems = problems_of(row.record).values_list(*COLUMNS)
    lines = tsv_lines({name: itemgetter(place) for place, name in enumerate(COLUMNS)}, problems)
    return file_response(lines, f"problems-of-import-{row.record.pk}.tsv")


def _import_or_404(request: HttpRequest, lab: str, record: int) -> tuple[Lab, ImportRow]:
    """Return an import of the lab's collection, or 404 for users who are not organizers."""
    organized_lab = organized_lab_or_404(request.user, lab)
    collection = collection_of(organized_lab)
    row = None if collection is None else import_row(collection, record, at=timezone.now())
    if row is None:
        raise Http404
    return organized_lab, row


def _context(request: HttpRequest, lab: Lab, row: ImportRow) -> dict[str, Any]:
    paginator = Paginator(problems_of(row.record), PROBLEMS_A_PAGE)
    return {
        "lab": lab,
        "row": row,
        "record": row.record,
        "page": paginator.get_page(request.GET.get("page")),
        "is_running": row.state == Import.State.RUNNING,
        "seen": _seen(row),
    }


def _seen(row: ImportRow) -> str:
    """Return a key for the state of an import page, which changes when the page has news."""
    return f"{row.state}-{row.record.rows}-{row.record.problem_count}"
