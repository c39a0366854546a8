"""Queries made by every submit.

PostgreSQL takes longer to plan each of them than to run it, so they are prepared once per
connection.
"""

from __future__ import annotations

import json
from typing import Any
from weakref import WeakSet

from django.db import connection
from django.db.backends.utils import CursorWrapper


class Planned:
    """A query in the SQL of each database, with named parameters.

    The keywords give the parameter types for PostgreSQL.
    """

    def __init__(self, name: str, *, on_postgresql: str, on_sqlite: str, **types: str) -> None:
        places = {parameter: f"${place}" for place, parameter in enumerate(types, start=1)}
        self._prepare = f"PREPARE {name} ({', '.join(types.values())}) AS {on_postgresql % places}"
        self._execute = f"EXECUTE {name} ({', '.join(f'%({parameter})s' for parameter in types)})"
        self._on_sqlite = on_sqlite
        self._known = WeakSet[Any]()  # the connections that have planned it

    def ask(self, cursor: CursorWrapper, **parameters: Any) -> list[tuple[Any, ...]]:
        """Return the rows of the result. SQLite receives lists as JSON."""
        if connection.vendor != "postgresql":
            lists = {
                name: json.dumps(value)
                for name, value in parameters.items()
                if isinstance(value, list)
            }
            cursor.execute(self._on_sqlite, parameters | lists)
        else:
            if connection.connection not in self._known:
                cursor.cursor.execute(
                    self._prepare
                )  # below Django's cursor: it is no query of this submit
                self._known.add(connection.connection)
            cursor.execute(self._execute, parameters)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows
