"""Tables to download."""

from __future__ import annotations

import polars as pl
from django.http import HttpResponse


def tsv_response(rows: pl.DataFrame, name: str) -> HttpResponse:
    """Return a table as a TSV file with a name."""
    text = rows.write_csv(separator="\t")
    response = HttpResponse(text, content_type="text/tab-separated-values; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
