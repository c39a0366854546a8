"""The effects of loading a file: changes of stored records by kind, and problems by cause."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from hashlib import sha256
from typing import Any, NamedTuple, TypedDict

from arqkit.records import Problem

EXAMPLES = 3
"""The examples that are shown of each kind of change and of each cause of problems."""
MOST_CAUSES = 100


class Fate(StrEnum):
    """What happens to a record when a file is loaded or records are deleted."""

    NEW = "new"
    CHANGED = "changed"
    REPLACED = "replaced by older"
    DELETED = "deleted"
    OLDER = "older than stored (the newer stays)"
    OUTSIDE = "outside (left out)"
    UNCHANGED = "unchanged"


ASKING = frozenset({Fate.CHANGED, Fate.REPLACED, Fate.DELETED})
"""The fates that change something stored, so that the organizer must confirm them."""
ALWAYS = (Fate.NEW, Fate.CHANGED, Fate.UNCHANGED)


class LoadGroup(TypedDict):
    """Records of a load with the same fate, ready for JSON."""

    what: str
    fate: str
    count: int
    asks: bool
    examples: list[dict[str, str]]


class StoredChanges(TypedDict):
    """What a load changes, ready for JSON."""

    digest: str
    groups: list[LoadGroup]


class CauseGroup(TypedDict):
    """Problems of a file with one cause, ready for JSON; examples have the fields of `Problem`."""

    path: str
    expected: str
    count: int
    examples: list[dict[str, Any]]


class Change(NamedTuple):
    """A record of a load: its name, the stored value and the value of the file."""

    name: str
    old: str = ""
    new: str = ""

    def __str__(self) -> str:
        """Return the record with both values, if they are known."""
        values = f": {self.old or 'none'} → {self.new or 'none'}" if any(self[1:]) else ""
        return f"{self.name}{values}"


class LoadChoice(NamedTuple):
    """What an organizer decided about a load. Without a decision, nothing stored changes.

    `confirmed` is True, or the digest of the changes that the organizer saw. `takes_older` lets
    older records replace newer ones, `leaves_out` loads a file without the records that are outside
    (not in a pool, not of the task's topics), and `keeps_edits` decides about values of a lab that
    were edited in the browser.
    """

    confirmed: bool | str = False
    takes_older: bool = False
    leaves_out: bool = False
    keeps_edits: bool | None = None


NO_CHOICE = LoadChoice()


class LoadChanges:
    """The records of a load by their kind (such as "labels") and their fate."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, Fate], list[Change]] = {}
        self.unused: list[str] = []
        """The columns of the file that were not used."""

    def add(self, what: str, fate: Fate, *changes: Change) -> None:
        """Add records with the same fate."""
        if changes:
            self._found.setdefault((what, fate), []).extend(changes)

    def extend(self, other: LoadChanges) -> None:
        """Add the records of another part of the load."""
        for (what, fate), changes in other._found.items():
            self.add(what, fate, *changes)

    def count(self, *fates: Fate) -> int:
        """Return the number of records with these fates."""
        return sum(len(changes) for (_, fate), changes in self._found.items() if fate in fates)

    @property
    def asks(self) -> bool:
        """Return whether something stored would change."""
        return self.count(*ASKING) > 0

    @property
    def stores(self) -> bool:
        """Return whether the load stores anything, new or changed."""
        return self.asks or self.count(Fate.NEW) > 0

    @property
    def digest(self) -> str:
        """Return a digest of all records, which shows what an organizer confirmed."""
        return sha256(repr(sorted(self._found.items())).encode()).hexdigest()

    @property
    def line(self) -> str:
        """Return the counts as one sentence: 2 new, 0 changed, 3 unchanged."""
        fates = [fate for fate in Fate if fate in ALWAYS or self.count(fate)]
        counts = ", ".join(f"{self.count(fate):,} {fate.value}" for fate in fates)
        unused = f" Columns not used: {', '.join(self.unused)}." if self.unused else ""
        return f"{counts}.{unused}"

    @property
    def counts(self) -> dict[str, int]:
        """Return the number of records by fate, without zeros."""
        return {fate.name.lower(): self.count(fate) for fate in Fate if self.count(fate)}

    @property
    def groups(self) -> list[LoadGroup]:
        """Return the counts and the first examples, ready for JSON, those that ask first."""
        fates = sorted(Fate, key=lambda fate: fate not in ASKING)
        order = sorted(self._found, key=lambda key: fates.index(key[1]))
        return [
            {
                "what": what,
                "fate": fate.value,
                "count": len(self._found[what, fate]),
                "asks": fate in ASKING,
                "examples": [change._asdict() for change in self._found[what, fate][:EXAMPLES]],
            }
            for what, fate in order
        ]

    @property
    def stored(self) -> StoredChanges:
        """Return the groups and the digest, ready for JSON."""
        return {"digest": self.digest, "groups": self.groups}

    @property
    def lines(self) -> list[str]:
        """Return the groups as lines for a terminal, each with its examples below it."""
        return [
            line
            for group in self.groups
            for line in (
                f"{group['what'].capitalize()}: {group['count']:,} {group['fate']}",
                *(f"    {Change(**example)}" for example in group["examples"] if group["asks"]),
            )
        ]


def problem_groups(
    problems: Iterable[Problem], earlier: Iterable[CauseGroup] = ()
) -> list[CauseGroup]:
    """Return problems by file and cause, ready for JSON: their count and the first examples.

    `earlier` are the groups of earlier problems of the same report. After `MOST_CAUSES`, problems
    with another cause are in no group.
    """
    groups = {(group["path"], group["expected"]): group for group in earlier}
    for problem in problems:
        cause = (problem.path, problem.expected)
        if cause not in groups and len(groups) < MOST_CAUSES:
            groups[cause] = {"path": cause[0], "expected": cause[1], "count": 0, "examples": []}
        if group := groups.get(cause):
            group["count"] += 1
            if len(group["examples"]) < EXAMPLES:
                group["examples"].append(problem._asdict())
    return list(groups.values())


def cause_lines(problems: Iterable[Problem]) -> list[str]:
    """Return problems as lines for a terminal: the first of each cause, and how many follow."""
    lines = []
    for group in problem_groups(problems):
        lines += [f"  {Problem(**example)}" for example in group["examples"]]
        if more := group["count"] - len(group["examples"]):
            lines.append(f"  … and {more:,} more: expected {group['expected']}.")
    return lines
