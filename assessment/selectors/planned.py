"""Questions that come with every submit. PostgreSQL plans each of them longer than it answers it, so it plans them once
for each connection."""

from __future__ import annotations

import json
from typing import Any
from weakref import WeakSet

from django.db import connection
from django.db.backends.utils import CursorWrapper

# What the databases say in different words. SQLite has one writer at a time, and no rows to lock.
_POSTGRESQL = {
    "lock_item": "FOR UPDATE OF item",
    "lock_free": "FOR UPDATE SKIP LOCKED",
    "not_at_hand": "item.id <> ALL (%(have)s)",
}
_SQLITE = {
    "lock_item": "",
    "lock_free": "",
    "not_at_hand": "item.id NOT IN (SELECT value FROM json_each(%(have)s))",
}


class Planned:
    """A question in SQL. Its parameters have names, the keywords tell their types on PostgreSQL; it says `{lock_item}`,
    `{lock_free}` (what nobody else has locked) and `{not_at_hand}` where the databases differ."""

    def __init__(self, name: str, question: str, **types: str) -> None:
        places = {parameter: f"${place}" for place, parameter in enumerate(types, start=1)}
        self._prepare = f"PREPARE {name} ({', '.join(types.values())}) AS {question.format(**_POSTGRESQL) % places}"
        self._execute = f"EXECUTE {name} ({', '.join(f'%({parameter})s' for parameter in types)})"
        self._sqlite = question.format(**_SQLITE)
        self._known = WeakSet[Any]()  # the connections that have planned it

    def ask(self, cursor: CursorWrapper, **parameters: Any) -> list[tuple[Any, ...]]:
        """Give the rows of the answer."""
        if connection.vendor != "postgresql":
            lists = {name: json.dumps(value) for name, value in parameters.items() if isinstance(value, list)}
            cursor.execute(self._sqlite, parameters | lists)
        else:
            if connection.connection not in self._known:
                cursor.cursor.execute(self._prepare)  # below Django's cursor: it is no query of this submit
                self._known.add(connection.connection)
            cursor.execute(self._execute, parameters)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows
