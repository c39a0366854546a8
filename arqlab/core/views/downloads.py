"""Tables to download as CSV or TSV, by the ending of their names. Only here they get their type."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import polars as pl
from django.http import HttpResponse, StreamingHttpResponse

from arqkit.formats.tables import frame_text


def table_response(rows: pl.DataFrame, name: str) -> HttpResponse:
    """Return a table as the file of a name, with cells that no spreadsheet computes."""
    text = frame_text(rows, delimiter="," if name.endswith(".csv") else "\t")
    return HttpResponse(text, **_of_file(name))


def file_response(lines: Iterable[bytes], name: str) -> StreamingHttpResponse:
    """Return the lines of a writer of tables (`arqkit.formats.tables`) as the file of a name."""
    return StreamingHttpResponse(lines, **_of_file(name))


def exact_response(content: bytes | str, name: str) -> HttpResponse:
    """Return a file that programs read again, byte by byte: runs, pools, qrels, topics.

    Those who call it are listed in a test, each with its reason.
    """
    return HttpResponse(content, **_of_file(name))


def _of_file(name: str) -> dict[str, Any]:
    kind = "csv" if name.endswith(".csv") else "tab-separated-values"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return {"content_type": f"text/{kind}; charset=utf-8", "headers": headers}
