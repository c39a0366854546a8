"""Storing many plain rows at once: by COPY on PostgreSQL, elsewhere many with each statement."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO

import polars as pl
from django.db import connection
from django.db.models import Model

MOST_PARAMETERS = 999
"""What every SQLite takes in one statement."""
AT_ONCE = 2**18
"""Bytes of COPY that go to the database at a time."""

# What COPY reads as something else in its text format.
_ESCAPES = {"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"}


def takes_copy() -> bool:
    """Return whether the database takes lines of COPY."""
    return connection.vendor == "postgresql"


def insert_rows(model: type[Model], rows: pl.DataFrame) -> None:
    """Insert rows of plain values in their order; call it inside a transaction.

    The frame's columns are named as in the database, and are all that have no default there. For
    61,000 rows of a pool `bulk_create` takes most of its time to make as many model instances; here
    no row becomes a Python object where the database takes COPY.
    """
    table = model._meta.db_table
    if takes_copy():
        escaped = rows.with_columns(pl.col(pl.String).str.replace_many(_ESCAPES))
        lines = escaped.write_csv(
            separator="\t", quote_style="never", null_value=r"\N", include_header=False
        )
        copy_lines(table, rows.columns, lines.encode())
    else:
        _insert_values(table, rows)


def copy_lines(table: str, columns: Sequence[str], lines: bytes) -> None:
    """Append lines of COPY's text format to a table of PostgreSQL."""
    with connection.cursor() as cursor:
        # psycopg2's cursor is below Django's.
        cursor.cursor.copy_expert(
            f"COPY {table} ({_quoted(columns)}) FROM STDIN", BytesIO(lines), AT_ONCE
        )


def _insert_values(table: str, rows: pl.DataFrame) -> None:
    one = f"({', '.join(['%s'] * rows.width)})"
    # names of our own models only
    insert = f"INSERT INTO {table} ({_quoted(rows.columns)}) VALUES "  # noqa: S608
    with connection.cursor() as cursor:
        for part in rows.iter_slices(MOST_PARAMETERS // rows.width):
            cursor.execute(
                insert + ", ".join([one] * part.height),
                [value for row in part.iter_rows() for value in row],
            )


def _quoted(columns: Sequence[str]) -> str:
    return ", ".join(connection.ops.quote_name(column) for column in columns)
