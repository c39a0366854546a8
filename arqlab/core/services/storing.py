"""Bulk inserts of plain rows: COPY on PostgreSQL, INSERTs on SQLite."""

from collections.abc import Sequence
from io import BytesIO

import polars as pl
from django.db import connection
from django.db.models import Model

AT_ONCE = 2**18
"""Bytes of COPY data to send to the database at a time."""

# Characters with a special meaning in COPY's text format.
_ESCAPES = {"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"}


def takes_copy() -> bool:
    """Return whether the database supports COPY."""
    return connection.vendor == "postgresql"


def insert_rows(model: type[Model], rows: pl.DataFrame) -> None:
    """Insert rows of plain values in order; call it inside a transaction.

    The frame's columns are the table's columns without a database default. For the 61,000 rows of a
    pool, `bulk_create` spends most of its time creating model instances; with COPY no row becomes a
    Python object.
    """
    table = model._meta.db_table
    if takes_copy():
        escaped = rows.with_columns(pl.col(pl.String).str.replace_many(_ESCAPES))
        lines = escaped.write_csv(
            separator="\t", quote_style="never", null_value=r"\N", include_header=False
        )
        copy_lines(table, rows.columns, lines.encode())
    else:
        places = ", ".join(["%s"] * rows.width)
        # Only names of our own models are inserted.
        insert = f"INSERT INTO {table} ({_quoted(rows.columns)}) VALUES ({places})"  # noqa: S608
        with connection.cursor() as cursor:
            cursor.executemany(insert, rows.rows())


def copy_lines(table: str, columns: Sequence[str], lines: bytes) -> None:
    """Append lines in COPY's text format to a PostgreSQL table."""
    with connection.cursor() as cursor:
        # Django's cursor wraps psycopg2's.
        cursor.cursor.copy_expert(
            f"COPY {table} ({_quoted(columns)}) FROM STDIN", BytesIO(lines), AT_ONCE
        )


def _quoted(columns: Sequence[str]) -> str:
    return ", ".join(connection.ops.quote_name(column) for column in columns)
