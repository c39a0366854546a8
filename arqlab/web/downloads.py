"""Files to download, which get their type by the ending of their names, only here."""

import json
from collections.abc import Callable, Iterable, Mapping

import polars as pl
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse

from arqkit.formats.tables import CONTENT_TYPES, Row, frame_text, table_lines
from arqlab.web.lists import ROWS_A_PAGE, Listing

_TYPES = CONTENT_TYPES | {
    "html": "text/html; charset=utf-8",  # to be kept: no browser shows an attachment
    "xml": "text/xml; charset=utf-8",
    "zip": "application/zip",
}


def table_response(rows: pl.DataFrame, name: str) -> HttpResponse:
    """Return a table as the file of a name, with cells that no spreadsheet computes."""
    text = frame_text(rows, delimiter="," if name.endswith(".csv") else "\t")
    return HttpResponse(text, **_of_file(name))


def table_file(
    columns: Mapping[str, Callable[[Row], object]], rows: Iterable[Row], name: str
) -> HttpResponse:
    """Return rows as the file of a name, which says the format; a column computes its cells."""
    lines = table_lines(columns, rows, ending=name.rpartition(".")[2])
    return HttpResponse(b"".join(lines), **_of_file(name))


def rows_response(
    request: HttpRequest,
    columns: Mapping[str, Callable[[Row], object]],
    rows: Listing | list[Row],
    tables: list[str],
) -> JsonResponse:
    """Return the page of rows that an address asks for, as the JSON file has them.

    `tables` are the names of all tables that the address has.
    """
    number = request.GET.get("page")
    here = rows.page if isinstance(rows, Listing) else Paginator(rows, ROWS_A_PAGE).get_page(number)

    def url(number: int) -> str:
        query = request.GET.copy()
        query["page"] = str(number)
        return request.build_absolute_uri(f"?{query.urlencode()}")

    return JsonResponse(
        {
            "tables": tables,
            "count": here.paginator.count,
            "next": url(here.next_page_number()) if here.has_next() else None,
            "previous": url(here.previous_page_number()) if here.has_previous() else None,
            "results": json.loads(b"".join(table_lines(columns, here, ending="json"))),
        }
    )


def file_response(lines: Iterable[bytes], name: str) -> StreamingHttpResponse:
    """Return the lines or chunks of a writer (`arqkit.formats.tables`) as the file of a name."""
    return StreamingHttpResponse(lines, **_of_file(name))


def exact_response(content: bytes | str, name: str) -> HttpResponse:
    """Return a file that programs read again, byte by byte; a test lists who may."""
    return HttpResponse(content, **_of_file(name))


def _of_file(name: str) -> dict[str, object]:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return {"content_type": _TYPES[name.rpartition(".")[2]], "headers": headers}
