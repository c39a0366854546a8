"""Votes of assessors on the same items: columns, an array of patterns, and disagreements.

Votes are a frame with the columns `item` (String), `assessor` (String) and `label` (Int64), and at
most one row for each item and assessor. To compare first and second judgments, write `first` and
`second` instead of the names of the assessors.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from arqkit.labels import LabelScale
from arqkit.measures.columns import Integers, Reals

MISSING = -1
"""The code of a vote that an assessor did not give."""


def disagreements(votes: pl.DataFrame, *, relevant_from: int) -> pl.DataFrame:
    """Return the items with different labels, largest difference first.

    The result has the columns:

    - item
    - votes: the number of votes.
    - lowest, highest: the lowest and the highest label.
    - spread: their difference.
    - is_binary: whether somebody considers the item relevant and somebody else does not.

    Among equal differences, binary disagreements come first, then items in alphabetical order.
    Remove labels that are not judgments first (`judgments_only`).
    """
    label = pl.col("label").cast(pl.Int64)
    items = votes.group_by("item").agg(
        votes=pl.len(), lowest=label.min(), highest=label.max(), spread=label.max() - label.min()
    )
    is_binary = (pl.col("lowest") < relevant_from) & (pl.col("highest") >= relevant_from)
    return (
        items.filter(pl.col("spread") > 0)
        .with_columns(is_binary=is_binary)
        .sort("spread", "is_binary", "item", descending=[True, True, False])
    )


def judgments_only(votes: pl.DataFrame, scale: LabelScale) -> pl.DataFrame:
    """Return the votes whose label is a judgment (System failure and Do not know are not)."""
    return votes.filter(scale.is_judged())


def binarized(votes: pl.DataFrame, *, relevant_from: int) -> pl.DataFrame:
    """Return the votes with the labels 1 (relevant) and 0, as in H+M binarization (000 §4.5)."""
    relevant = (pl.col("label") >= relevant_from).cast(pl.Int64)
    return votes.with_columns(label=relevant)


def confusion_matrix(
    votes: pl.DataFrame, first: str, second: str, *, scale: LabelScale
) -> tuple[tuple[int, ...], ...]:
    """Return how often each label of one assessor met each label of another on their common items.

    Rows are the labels of `first`, columns those of `second`, both in the scale's order, without
    the labels that are not judgments.
    """
    first_votes, second_votes = (
        votes.filter(assessor=name).select("item", "label") for name in (first, second)
    )
    cells = first_votes.join(second_votes, on="item").group_by("label", "label_right").len()
    counts = {(row, column): count for row, column, count in cells.iter_rows()}
    values = [label.value for label in scale.judgments]
    return tuple(tuple(counts.get((row, column), 0) for column in values) for row in values)


@dataclass(frozen=True, eq=False)
class VoteTable:
    """The items with two or more votes, grouped by their pattern of votes.

    No coefficient of agreement depends on anything but the number of items with each pattern, so
    an array of the patterns is enough: a thousand resamples of 4,500 items that two of eight
    assessors judged are a thousand counts of at most 448 patterns.

    - codes: for each pattern (row) and assessor (column) the position of the label in `labels`, or
      MISSING.
    - items: the number of items with each pattern.
    """

    assessors: tuple[str, ...]
    labels: Integers
    codes: Integers
    items: Integers

    @classmethod
    def of(cls, votes: pl.DataFrame) -> "VoteTable":
        """Return the table of votes. Raises ValueError for two votes of one assessor on an item."""
        if votes.select("item", "assessor").is_duplicated().any():
            raise ValueError("an assessor has two votes on one item")
        names = votes["assessor"].unique().sort().to_list()
        places = {name: place for place, name in enumerate(names)}
        rows = votes.filter(pl.len().over("item") > 1).sort("item")
        item = rows["item"].rle_id().to_numpy()
        labels, codes = np.unique(rows["label"].cast(pl.Int64).to_numpy(), return_inverse=True)
        grid = np.full((rows["item"].n_unique(), len(names)), MISSING)
        grid[item, [places[name] for name in rows["assessor"]]] = codes
        patterns, items = np.unique(grid, axis=0, return_counts=True)
        return cls(tuple(names), labels, patterns, items)

    @cached_property
    def counts(self) -> Integers:
        """Return how many votes of each pattern (row) are for each label (column)."""
        counts: Integers = (self.codes[:, :, None] == np.arange(len(self.labels))).sum(axis=1)
        return counts

    @cached_property
    def sizes(self) -> Integers:
        """Return the number of votes of each pattern."""
        sizes: Integers = (self.codes != MISSING).sum(axis=1)
        return sizes

    def binarized(self, relevant_from: int) -> "VoteTable":
        """Return the same patterns with the labels 1 (relevant) and 0."""
        relevant = (self.labels >= relevant_from).astype(np.int64)
        codes = np.where(self.codes == MISSING, MISSING, relevant[self.codes])
        return replace(self, labels=np.arange(2), codes=codes)

    def judged_by(self, assessor: int) -> int:
        """Return the number of items that an assessor and somebody else judged."""
        return int(self.items[self.codes[:, assessor] != MISSING].sum())

    def weights(self) -> Reals:
        """Return the number of items with each pattern as a column."""
        return self.items[:, None].astype(np.float64)

    def resampled(self, resamples: int, *, seed: int) -> Reals:
        """Return `weights` and, in further columns, those of samples of the items.

        A sample has as many items, drawn with replacement.
        """
        random = np.random.default_rng(seed)
        pattern = np.repeat(np.arange(len(self.items)), self.items)
        weights = np.zeros((len(self.items), 1 + resamples))
        weights[:, 0] = self.items
        for column in range(1, 1 + resamples if len(pattern) else 0):
            drawn = pattern[random.integers(len(pattern), size=len(pattern))]
            weights[:, column] = np.bincount(drawn, minlength=len(self.items))
        return weights
