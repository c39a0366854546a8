"""The rules that a run is checked by, the findings of the checks, and the report made of them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

import polars as pl

from arqkit.data_files import data_beside
from arqkit.ranking import Frame, OrderBy
from arqkit.records import ItemKind, Severity, TaskKind
from arqkit.topics import visible

# Line (None for the whole file), topic, found, expected.
Place = tuple[int | None, str | None, str, str]
OCCURRENCE = {"line": pl.Int64, "topic": pl.String, "found": pl.String, "expected": pl.String}
LISTED = 5  # names in a message
OCCURRENCES = {"kind": pl.String, "severity": pl.String, **OCCURRENCE}
FIRST_LINES = 10
SHOWN_TAGS = 20  # a broken file may have a new tag on every line
KEPT_CHARACTERS = 1000
# A value may be a line of several megabytes. Pages show less of it than the download.
SHOWN_CHARACTERS = 200
INVISIBLE = r"[\p{C}\p{Z}--[ \t\r\n]]"
KINDS: dict[str, dict[str, Any]] = data_beside(__file__, "problems.toml")
"""The kinds of problems in the order of the report, each with its severity and its messages."""


def weighs(kind: str, severity: str) -> bool:
    """Return whether a warning is about the run as a whole, so that its scores may mean nothing.

    Pages, notices and the command name it beside "valid", not only below.
    """
    return severity == Severity.WARNING.value and bool(KINDS.get(kind, {}).get("weighs"))


@dataclass(frozen=True, eq=False)
class RunRules:
    """The rules of a task that its runs are checked by (protocol §4).

    `topics` are the task's topic ids; topics are not checked if it is empty. `limit` is the number
    of items per topic, `max_characters` the length of a generated answer in Unicode characters.
    `order` is the order that counts (`ranking.with_order`), `pooling_order` that of the pool.
    `items` is the kind of the items in a TREC file. With `trec_only`, a ranked list is in TREC's
    format and no other. With `has_answer_ids`, runs of Task 3 may lack the texts of their answers.

    `posts` has the columns post_id, type ("question" or "answer") and thread_id, `formulas` has
    formula_id, post_id and visual_id (which may be null), all String; both may be lazy frames.
    Items are looked up only where they are given. If the collection is not `complete`, an unknown
    item is a note and not an error. Where the lab has no collection, `knows` returns whether the
    task knows any of these ids from elsewhere, or None if there is nothing to compare with.
    """

    kind: TaskKind
    topics: tuple[str, ...] = ()
    limit: int = 1000
    max_characters: int = 1200
    order: OrderBy = "score"
    pooling_order: OrderBy = "score"
    items: ItemKind = ItemKind.POSTS
    posts: Frame | None = None
    formulas: Frame | None = None
    complete: bool = False
    trec_only: bool = False
    has_answer_ids: bool = False
    answered_only: bool = False
    """Whether means are over the topics that a run answers."""
    knows: Callable[[ItemKind, pl.Series], bool | None] | None = None

    @property
    def ranks_count(self) -> bool:
        """Return whether scores or the pool depend on the submitted ranks."""
        return "rank" in (self.order, self.pooling_order)


@dataclass(frozen=True, eq=False)
class ProblemGroup:
    """All problems of one kind in a run.

    `message` says what was found and what was expected, `todo` what to do about it. `occurrences`
    has a row for each problem: line (Int64, null for the whole file), topic, found and expected
    (String). `is_repairable` means that `repaired_run` solves the problems of this kind.
    """

    kind: str
    severity: Severity
    count: int
    message: str
    todo: str
    occurrences: pl.DataFrame
    is_repairable: bool = False

    @property
    def first(self) -> list[dict[str, object]]:
        """Return the first occurrences, which pages and reports list."""
        excerpts = pl.col("found", "expected").str.slice(0, SHOWN_CHARACTERS)
        return self.occurrences.head(FIRST_LINES).with_columns(excerpts).to_dicts()


@dataclass(frozen=True, eq=False, kw_only=True)
class RunReport:
    """The result of checking a run file; that of one that cannot be unpacked has problems only.

    `format` is the id of a format (`layouts.FORMATS`) or `unknown`; `format_name` is its name for
    people. `lines` counts all lines, `rows` those that could be read. `problems` has errors first,
    then warnings, then notes. `more` has further facts, and `sha256` is that of the unpacked file.

    `index` is None for a refused run. Otherwise it has the columns topic, item, post (String; null
    where the file has none), rank (Int64, as submitted), score (Float64), order (Int32,
    `ranking.with_order`), and for Task 3 answer and sources (String), sorted by topic and order.
    The item of a generated answer is its topic id, because a run has one answer per topic.
    """

    format: str = ""
    format_name: str = ""
    items: ItemKind = ItemKind.POSTS
    lines: int = 0
    rows: int = 0
    topics: int = 0
    run_tags: tuple[str, ...] = ()
    problems: tuple[ProblemGroup, ...]
    index: pl.DataFrame | None = None
    more: Mapping[str, object] = field(default_factory=dict)
    sha256: str = ""

    @property
    def is_valid(self) -> bool:
        """Return whether the run is accepted: it has no error."""
        return all(group.severity is not Severity.ERROR for group in self.problems)

    @property
    def facts(self) -> dict[str, object]:
        """Return what the run's page shows of the file, as plain data."""
        if not self.format:
            return {}
        return {
            "format": self.format,
            "format_name": self.format_name,
            "items": self.items.value,
            "lines": self.lines,
            "rows": self.rows,
            "topics": self.topics,
            "run_tags": list(self.run_tags[:SHOWN_TAGS]),
            **self.more,
        }

    @property
    def occurrences(self) -> pl.DataFrame:
        """Return all problems, each with its kind and severity."""
        columns = [
            group.occurrences.select(
                pl.lit(group.kind).alias("kind"),
                pl.lit(group.severity.value).alias("severity"),
                "line",
                "topic",
                pl.col("found", "expected").str.slice(0, KEPT_CHARACTERS),
            )
            for group in self.problems
        ]
        return pl.concat([pl.DataFrame(schema=OCCURRENCES), *columns], how="vertical")


class Finding(NamedTuple):
    """All problems of one kind before `describe` puts them into words.

    `facts` fill the messages. `severity` overrides the severity of the kind, `repairable=False`
    withdraws its repair.
    """

    kind: str
    occurrences: pl.DataFrame
    facts: Mapping[str, object] = MappingProxyType({})
    severity: Severity | None = None
    repairable: bool = True


class Count(NamedTuple):
    """A number of things, formatted for a message: `{:has|have}` becomes "3 lines have"."""

    number: int
    singular: str
    plural: str

    def __format__(self, verbs: str) -> str:
        """Return the number with its noun, and with the verb that agrees with it."""
        is_one = self.number == 1
        verb = verbs.partition("|")[0 if is_one else 2]
        return f"{self.number:,} {self.singular if is_one else self.plural} {verb}".rstrip()


def occurrences(
    rows: pl.DataFrame,
    *,
    actual: pl.Expr | str,
    expected: pl.Expr | str,
    topic: pl.Expr | str = "topic",
) -> pl.DataFrame:
    """Return an occurrence for each row, sorted by line. A string names a column."""
    columns = {"line": pl.col("line"), "topic": topic, "found": actual, "expected": expected}
    named = [pl.col(value) if isinstance(value, str) else value for value in columns.values()]
    # polars 2.1 panics when it formats a string from a column with an empty chunk.
    places = rows.rechunk().select(
        expression.cast(OCCURRENCE[name]).alias(name)
        for name, expression in zip(columns, named, strict=True)
    )
    return places if places["line"].is_sorted() else places.sort("line")


def listed(places: Iterable[Place]) -> pl.DataFrame:
    """Return an occurrence for each place."""
    return pl.DataFrame(list(places), schema=OCCURRENCE, orient="row")


def find_rows(
    kind: str, rows: pl.DataFrame, actual: pl.Expr | str, expected: pl.Expr | str, **facts: object
) -> Iterator[Finding]:
    """Yield a finding of rows, if any; `actual` may name a column, and `expected` be a text."""
    if rows.height:
        expected = pl.lit(expected) if isinstance(expected, str) else expected
        yield Finding(kind, occurrences(rows, actual=actual, expected=expected), facts)


def named_list(parts: Sequence[str]) -> str:
    """Return the first parts, and how many more there are."""
    more = f" and {len(parts) - LISTED:,} more" if len(parts) > LISTED else ""
    return ", ".join(map(visible, parts[:LISTED])) + more


def describe(finding: Finding, *, can_repair: bool) -> ProblemGroup:
    """Return a finding with its message and what to do; without `can_repair`, no repair."""
    kind = KINDS[finding.kind]
    repairable = can_repair and finding.repairable and "repair" in kind
    severity = finding.severity or Severity(kind["severity"])
    words = kind.get("as_note", kind) if severity is Severity.NOTE else kind
    todo = f"{words['todo']} {kind['repair']}" if repairable else words["todo"]
    count, topics = finding.occurrences.height, finding.occurrences["topic"].n_unique()
    things = {"line": count, "item": count, "topic": topics}
    facts: dict[str, object] = {
        f"{thing}s": Count(number, thing, f"{thing}s") for thing, number in things.items()
    }
    facts |= finding.facts
    return ProblemGroup(
        kind=finding.kind,
        severity=severity,
        count=count,
        message=words["message"].format(**facts),
        todo=todo.format(**facts),
        occurrences=_visible(finding.occurrences),
        is_repairable=repairable,
    )


def sort_problems(groups: Iterable[ProblemGroup]) -> tuple[ProblemGroup, ...]:
    """Return errors first, then warnings, then notes, each in the order of `KINDS`."""
    severities, kinds = list(Severity), list(KINDS)
    places = ((severities.index(it.severity), kinds.index(it.kind), it) for it in groups)
    return tuple(group for *_, group in sorted(places, key=lambda place: place[:2]))


def _visible(places: pl.DataFrame) -> pl.DataFrame:
    texts = pl.col("topic", "found", "expected")
    if not places.select(pl.any_horizontal(texts.str.contains(INVISIBLE)).any()).item():
        return places
    return places.with_columns(texts.map_elements(visible, return_dtype=pl.String))
