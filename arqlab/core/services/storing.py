"""Bulk inserts of plain rows: COPY on PostgreSQL, multi-row INSERTs on SQLite."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO

import polars as pl
from django.db import connection
from django.db.models import Model

MAX_PARAMETERS = 999
"""The maximum number of parameters in a statement that every SQLite accepts."""
AT_ONCE = 2**18
"""Bytes of COPY data to send to the database at a time."""

# Characters with a special meaning in COPY's text format.
_ESCAPES = {"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"}


def insert_rows(model: type[Model], rows: pl.DataFrame) -> None:
    """Insert rows of plain values in order; call it inside a transaction.

    The frame's columns are the table's columns without a database default. For the 61,000 rows of a
    pool, `bulk_create` spends most of its time creating model instances; with COPY no row becomes a
    Python object.
    """
    table = model._meta.db_table
    if connection.vendor == "postgresql":
        escaped = rows.with_columns(pl.col(pl.String).str.replace_many(_ESCAPES))
        lines = escaped.write_csv(
            separator="\t", quote_style="never", null_value=r"\N", include_header=False
        )
        with connection.cursor() as cursor:
            # Django's cursor wraps psycopg2's.
            cursor.cursor.copy_expert(
                f"COPY {table} ({_quoted(rows.columns)}) FROM STDIN",
                BytesIO(lines.encode()),
                AT_ONCE,
            )
    else:
        _insert_values(table, rows)


def _insert_values(table: str, rows: pl.DataFrame) -> None:
    placeholders = f"({', '.join('?' * rows.width)})"
    # Only names of our own models are inserted.
    insert = f"INSERT INTO {table} ({_quoted(rows.columns)}) VALUES "  # noqa: S608
    connection.ensure_connection()
    # SQLite's own connection: Django's cursor looks for the places of parameters in each statement,
    # which takes as long as the insertion.
    execute = connection.connection.execute
    for part in rows.iter_slices(MAX_PARAMETERS // rows.width):
        values = [value for row in part.rows() for value in row]
        execute(insert + ", ".join([placeholders] * part.height), values)


def _quoted(columns: Sequence[str]) -> str:
    return ", ".join(connection.ops.quote_name(column) for column in columns)
