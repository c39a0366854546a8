"""Label scales as data: the labels that an assessor can choose for an item (protocol §6).

A task's protocol has a scale, and each pool and each version of qrels keeps the scale it was made
with. No other module depends on the value or the word of a label.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import polars as pl

LARGEST_VALUE = 99
"""The maximum value of a label; the minimum is 0."""

LONGEST_WORD = 40

COLOURS = ("deep-green", "green", "soft-green", "light-green", "grey", "blue", "purple", "amber")
"""The colour tokens of labels; `static/css/tokens.css` has one rule for each."""

PAGE_KEYS = frozenset("BCIJLNQT?")
"""The keys that the judging page uses itself (`static/js/judge/keys.js`)."""


@dataclass(frozen=True, slots=True)
class ScaleLabel:
    """One label of a scale: its value in files, the key that selects it, and how it is shown.

    A label that is not a judgment leaves its item unjudged and opens a ticket.
    """

    value: int
    key: str
    letter: str
    word: str
    colour: str
    is_judgment: bool = True
    asks_comment: bool = False


@dataclass(frozen=True)
class LabelScale:
    """The labels of a scale in display order.

    The highest judgment comes first; labels that are not judgments come last.
    """

    labels: tuple[ScaleLabel, ...]

    def __post_init__(self) -> None:
        """Sort the labels."""
        ordered = sorted(
            self.labels,
            key=lambda label: (
                not label.is_judgment,
                -label.value if label.is_judgment else label.value,
            ),
        )
        object.__setattr__(self, "labels", tuple(ordered))

    def __iter__(self) -> Iterator[ScaleLabel]:
        """Yield the labels in their order."""
        return iter(self.labels)

    @cached_property
    def values(self) -> tuple[int, ...]:
        """Return the values of all labels, in order."""
        return tuple(label.value for label in self.labels)

    @cached_property
    def judgments(self) -> tuple[ScaleLabel, ...]:
        """Return the labels that say how relevant an item is; only these get into measures."""
        return tuple(label for label in self.labels if label.is_judgment)

    @cached_property
    def reports(self) -> tuple[ScaleLabel, ...]:
        """Return the labels that are not judgments; assessors use them to report an item."""
        return tuple(label for label in self.labels if not label.is_judgment)

    @cached_property
    def unjudged(self) -> tuple[int, ...]:
        """Return the values of the labels that are not judgments."""
        return tuple(label.value for label in self.reports)

    def of(self, value: int) -> ScaleLabel:
        """Return the label of a value; an unknown value is shown as a number."""
        return self._by_value.get(value) or ScaleLabel(value, "", "?", str(value), "grey")

    @cached_property
    def _by_value(self) -> Mapping[int, ScaleLabel]:
        return {label.value: label for label in self.labels}

    def is_judged(self) -> pl.Expr:
        """Return an expression that is true where the column `label` is a judgment."""
        return ~pl.col("label").cast(pl.Int64).is_in(list(self.unjudged))

    def only_judged(self, qrels: pl.DataFrame) -> pl.DataFrame:
        """Return qrels with null instead of labels that are not judgments."""
        return qrels.with_columns(pl.when(self.is_judged()).then("label").alias("label"))

    def without(self, values: Iterable[int]) -> "LabelScale":
        """Return the scale without some labels."""
        gone = set(values)
        return LabelScale(tuple(label for label in self.labels if label.value not in gone))

    def rows(self) -> list[dict[str, object]]:
        """Return the labels as JSON values, as stored in the database and written in `lab.toml`."""
        return [asdict(label) for label in self.labels]


def scale_of_rows(rows: Iterable[Mapping[str, Any]]) -> LabelScale:
    """Return the scale of rows from `LabelScale.rows`."""
    return LabelScale(tuple(ScaleLabel(**row) for row in rows))
