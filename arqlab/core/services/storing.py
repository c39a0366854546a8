"""Bulk inserts of plain rows: COPY on PostgreSQL, INSERTs on SQLite."""

from __future__ import annotations

from io import BytesIO

import polars as pl
from django.db import connection
from django.db.models import Model

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
    columns = ", ".join(map(connection.ops.quote_name, rows.columns))
    if connection.vendor == "postgresql":
        escaped = rows.with_columns(pl.col(pl.String).str.replace_many(_ESCAPES))
        lines = escaped.write_csv(
            separator="\t", quote_style="never", null_value=r"\N", include_header=False
        )
        with connection.cursor() as cursor:
            # Django's cursor wraps psycopg2's.
            cursor.cursor.copy_expert(
                f"COPY {table} ({columns}) FROM STDIN", BytesIO(lines.encode()), AT_ONCE
            )
    else:
        places = ", ".join(["%s"] * rows.width)
        # Only names of our own models are inserted.
        insert = f"INSERT INTO {table} ({columns}) VALUES ({places})"  # noqa: S608
        with connection.cursor() as cursor:
            cursor.executemany(insert, rows.rows())
