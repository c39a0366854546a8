"""The users and the versions of the guidelines that imported judgments name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from arqkit.formats.qrels.judgments import JudgedLine
from arqkit.records import Problem
from arqlab.core.models import Task, User
from assessment.qrels.selectors.drafts import host_of


class ImportNames(NamedTuple):
    """The keys of the users and of the versions of the guidelines that the lines name."""

    people: Mapping[str, int]
    versions: Mapping[int, int]

    def guideline(self, row: JudgedLine) -> int | None:
        """Return the key of a line's version; the default text (0) has none."""
        return self.versions.get(row.guidelines or 0)


def names_in(rows: Iterable[JudgedLine], task: Task) -> ImportNames:
    """Return the users that lines name, and the versions of the task whose pool has the items."""
    versions = (host_of(task) or task).guidelines.values_list("version", "pk")
    return ImportNames(_people(rows), dict(versions))


def unknown_names(rows: Iterable[JudgedLine], names: ImportNames, path: str) -> Iterable[Problem]:
    """Yield the users and versions that do not exist."""
    todo = "Correct the name, have them sign up, or leave the cell empty."
    for row in rows:
        if row.assessor and row.assessor not in names.people:
            found, expected = (
                f"the assessor {row.assessor[:80]}",
                "the user name or email address of an account",
            )
            yield Problem(path, row.line, found, expected, todo)
        if row.guidelines and row.guidelines not in names.versions:
            found, expected = f"version {row.guidelines}", "a version of the task's guidelines"
            yield Problem(path, row.line, found, expected, "Correct it, or leave the cell empty.")


def _people(rows: Iterable[JudgedLine]) -> dict[str, int]:
    """Return the users named in the lines by user name or email address (lower case)."""
    names = {row.assessor for row in rows if row.assessor}
    if not names:
        return {}
    people: dict[str, int] = {}
    for pk, username, email in User.objects.values_list("pk", "username", "email"):
        people[username] = pk
        if email:
            people[email.lower()] = pk
    return {
        name: people[key]
        for name in names
        if (key := name.lower() if "@" in name else name) in people
    }
