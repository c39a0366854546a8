"""Agreement of two groupings of formula instances, counted in pairs (ours against official ids)."""

from typing import NamedTuple

import polars as pl


class Agreement(NamedTuple):
    """The pairs of instances that both groupings, only ours, or only theirs put into one group."""

    together: int
    only_ours: int
    only_theirs: int

    @property
    def precision(self) -> float:
        """Return the fraction of our pairs that are also theirs."""
        return self.together / ((self.together + self.only_ours) or 1)

    @property
    def recall(self) -> float:
        """Return the fraction of their pairs that are also ours."""
        return self.together / ((self.together + self.only_theirs) or 1)


def agreement(ids: pl.DataFrame) -> Agreement:
    """Count the pairs on which the columns `ours` and `theirs` agree and disagree."""
    both = _pairs(ids.group_by("ours", "theirs").len())
    ours, theirs = (_pairs(ids.group_by(column).len()) for column in ("ours", "theirs"))
    return Agreement(both, ours - both, theirs - both)


def _pairs(sizes: pl.DataFrame) -> int:
    size = pl.col("len").cast(pl.Int64)
    return int(sizes.select((size * (size - 1)).sum() // 2).item())
