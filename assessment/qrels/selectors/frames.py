"""Rows of the database as frames."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from typing import Any

import polars as pl
from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import QuerySet


def read_frame(
    rows: QuerySet[Any, Any], schema: Mapping[str, pl.DataType | type[pl.DataType]]
) -> pl.DataFrame:
    """Return the rows of `values_list`, with annotations after the fields, in one query.

    On PostgreSQL, COPY takes half the time: no row becomes a Python object, which the garbage
    collector would look at again and again.
    """
    if connection.vendor == "postgresql":
        return _copied(rows, schema)
    columns = zip(*rows, strict=True) if rows else ((),) * len(schema)
    return pl.DataFrame(dict(zip(schema, columns, strict=True)), schema=schema)


def _copied(
    rows: QuerySet[Any, Any], schema: Mapping[str, pl.DataType | type[pl.DataType]]
) -> pl.DataFrame:
    try:
        sql, parameters = rows.query.sql_with_params()
    except EmptyResultSet:
        return pl.DataFrame(schema=schema)
    text = BytesIO()
    with connection.cursor() as cursor:
        select = cursor.mogrify(sql, parameters).decode()
        cursor.copy_expert(f"COPY ({select}) TO STDOUT (FORMAT csv)", text)
    if not text.tell():
        return pl.DataFrame(schema=schema)
    # PostgreSQL writes t and f.
    flags = [name for name, kind in schema.items() if kind == pl.Boolean]
    types = {**schema, **dict.fromkeys(flags, pl.String)}
    frame = pl.read_csv(text.getvalue(), has_header=False, schema=types)
    return frame.with_columns(pl.col(flags) == "t") if flags else frame
