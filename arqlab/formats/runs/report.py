"""What is asked of a run, and what came out of checking it: the values that pass between the parts
of `runfile`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import polars as pl

from arqlab.ir.ranking import OrderBy
from arqlab.ir.records import ItemKind, Severity, TaskKind

Place = tuple[
    int | None, str | None, str, str
]  # line (None is the whole file), topic, found, expected
OCCURRENCE = {"line": pl.Int64, "topic": pl.String, "found": pl.String, "expected": pl.String}


@dataclass(frozen=True, eq=False)
class RunRules:
    """What a task asks of a run (protocol §4).

    `topics` are the task's topic ids; none means that topics are not checked. `limit` is in items a
    topic, `max_characters` in Unicode characters of a written answer. `order` says which order
    counts (`ranking.with_order`). `items` is what the items of a TREC file of six columns are.

    `posts` has the columns post_id, type ("question" or "answer") and thread_id, `formulas`
    formula_id, post_id and visual_id (which may be null), all String; a lazy frame serves as well.
    Without them items are not looked up. When the collection is not `complete`, an item that is not
    in it is only noted.
    """

    kind: TaskKind
    topics: tuple[str, ...] = ()
    limit: int = 1000
    max_characters: int = 1200
    order: OrderBy = "score"
    items: ItemKind = ItemKind.POSTS
    posts: pl.DataFrame | pl.LazyFrame | None = None
    formulas: pl.DataFrame | pl.LazyFrame | None = None
    complete: bool = False


@dataclass(frozen=True, eq=False)
class ProblemGroup:
    """All problems of one kind in a run.

    `message` says in a sentence what was found and what is expected, `todo` what to do.
    `occurrences` has a row for each: line (Int64, null for the whole file), topic, found, expected
    (String). `repairable` says that `repaired_run` makes this kind go away.
    """

    kind: str
    severity: Severity
    count: int
    message: str
    todo: str
    occurrences: pl.DataFrame
    repairable: bool


@dataclass(frozen=True, eq=False)
class RunReport:
    """All that is to say about a run file.

    `format` is `arqmath-task1`, `-task2`, `-task3`, `trec` or `unknown`; `format_name` says it for
    people. `lines` counts all lines, `rows` those that were understood. `problems` are sorted:
    errors, warnings, notes.

    `index` is None for a refused run, else a frame with the columns topic, item, post (String; post
    is null where the file has none), rank (Int64, as submitted), score (Float64), order (Int32,
    `ranking.with_order`), for Task 3 also answer and sources (String), sorted by topic and order.
    The item of a written answer is its topic id: a run has one answer for a topic.
    """

    format: str
    format_name: str
    items: ItemKind
    lines: int
    rows: int
    topics: int
    run_tags: tuple[str, ...]
    problems: tuple[ProblemGroup, ...]
    index: pl.DataFrame | None

    @property
    def is_valid(self) -> bool:
        """Report whether the run is accepted: it has no error."""
        return all(group.severity is not Severity.ERROR for group in self.problems)


class Finding(NamedTuple):
    """What one check found, before it is put into words (`runproblems.describe`).

    `facts` fill the words, `severity` overrides that of the kind, `repairable=False` takes back the
    kind's repair.
    """

    kind: str
    occurrences: pl.DataFrame
    facts: Mapping[str, object] = MappingProxyType({})
    severity: Severity | None = None
    repairable: bool = True


def occurrences(
    rows: pl.DataFrame,
    *,
    found: pl.Expr | str,
    expected: pl.Expr | str,
    topic: pl.Expr | str = "topic",
) -> pl.DataFrame:
    """Return the occurrences of a problem, one for each row, by line. A string names a column."""
    columns = {"line": pl.col("line"), "topic": topic, "found": found, "expected": expected}
    named = [pl.col(value) if isinstance(value, str) else value for value in columns.values()]
    # polars 2.1 stops with a panic where it formats a string from a column in chunks of which one
    # is empty.
    places = rows.rechunk().select(
        expression.cast(OCCURRENCE[name]).alias(name)
        for name, expression in zip(columns, named, strict=True)
    )
    return places if places["line"].is_sorted() else places.sort("line")


def listed(places: Iterable[Place]) -> pl.DataFrame:
    """Return the occurrences of a problem from a row for each place."""
    return pl.DataFrame(list(places), schema=OCCURRENCE, orient="row")
