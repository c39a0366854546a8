"""Queries that PostgreSQL plans once per connection; planning takes longer than running them."""

import json
from typing import Any
from weakref import WeakSet

from django.db import connection
from django.db.backends.utils import CursorWrapper

Row = tuple[Any, ...]
"""The values of the columns of a query, which is fixed SQL: whoever wrote it knows their types."""


class Planned:
    """A query with named parameters and their types; `sqlite` has it for SQLite if it differs."""

    def __init__(self, name: str, query: str, sqlite: str = "", **types: str) -> None:
        places = {parameter: f"${place}" for place, parameter in enumerate(types, start=1)}
        self._prepare = f"PREPARE {name} ({', '.join(types.values())}) AS {query % places}"
        self._execute = f"EXECUTE {name} ({', '.join(f'%({parameter})s' for parameter in types)})"
        self._on_sqlite = sqlite or query
        self._known = WeakSet[object]()  # the connections that have planned it

    def run(self, cursor: CursorWrapper, **parameters: Any) -> None:
        """Run the query. SQLite receives lists as JSON."""
        if connection.vendor != "postgresql":
            lists = {
                name: json.dumps(value)
                for name, value in parameters.items()
                if isinstance(value, list)
            }
            cursor.execute(self._on_sqlite, parameters | lists)
            return
        if connection.connection not in self._known:
            with connection.wrap_database_errors:
                # Below Django's cursor: it is not a query of this request.
                cursor.cursor.execute(self._prepare)
            self._known.add(connection.connection)
        cursor.execute(self._execute, parameters)

    def ask(self, cursor: CursorWrapper, **parameters: Any) -> list[Row]:
        """Return the rows of the result."""
        self.run(cursor, **parameters)
        rows: list[Row] = cursor.fetchall()
        return rows
