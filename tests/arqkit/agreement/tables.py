"""Tables of votes for tests: rows are items, columns assessors, None is a missing vote."""

from collections.abc import Sequence

import numpy as np
import polars as pl
from hypothesis import strategies as st

from arqkit.agreement.estimates import (
    Level,
    alpha_of,
    first_of,
    fleiss_of,
    kappas_of,
    mean_over,
    observed_of,
    pair_kappa_of,
)
from arqkit.agreement.votes import VoteTable

Rows = Sequence[Sequence[int | None]]
SCHEMA = {"item": pl.String, "assessor": pl.String, "label": pl.Int64}


def votes_of(rows: Rows, names: str = "abcdefgh") -> pl.DataFrame:
    """Return the votes of a table; items are numbered, assessors have the letters of `names`."""
    votes = [
        (f"i{item}", name, label)
        for item, row in enumerate(rows)
        for name, label in zip(names, row, strict=False)
        if label is not None
    ]
    return pl.DataFrame(votes, schema=SCHEMA, orient="row")


def tables(
    *, labels: int = 4, assessors: tuple[int, int] = (2, 5), missing: bool = True
) -> st.SearchStrategy[list[list[int | None]]]:
    """Return tables of up to twelve items."""
    label = st.integers(0, labels - 1)
    vote = st.none() | label if missing else label
    return st.integers(*assessors).flatmap(
        lambda size: st.lists(st.lists(vote, min_size=size, max_size=size), max_size=12)
    )


def noisy_rows(items: int, assessors: int, *, seed: int, missing: float = 0.2) -> Rows:
    """Return a table of assessors who know the true label of 60% of the items and guess others."""
    random = np.random.default_rng(seed)
    truth = random.choice(4, items, p=[0.5, 0.2, 0.2, 0.1])
    knows = random.random((items, assessors)) < 0.6
    labels = np.where(knows, truth[:, None], random.integers(0, 4, (items, assessors)))
    is_missing = random.random((items, assessors)) < missing
    return [
        [None if no else int(label) for label, no in zip(*row, strict=True)]
        for row in zip(labels, is_missing, strict=True)
    ]


def cohen_kappa(votes: pl.DataFrame, one: str, other: str) -> float | None:
    """Return Cohen's kappa of two assessors on the items that both judged."""
    table = VoteTable.of(votes.filter(pl.col("assessor").is_in([one, other])))
    if len(table.assessors) < 2:
        return None
    return first_of(pair_kappa_of(table, 0, 1, table.weights()))


def mean_pairwise_kappas(votes: pl.DataFrame) -> dict[str, float | None]:
    """Return each assessor's mean Cohen's kappa with the others (004 figures 3 and 4)."""
    table = VoteTable.of(votes)
    kappas = mean_over(kappas_of(table, table.weights()))
    return {name: first_of(row) for name, row in zip(table.assessors, kappas, strict=True)}


def fleiss_kappa(votes: pl.DataFrame) -> float | None:
    """Return Fleiss' kappa of all items with two or more votes."""
    table = VoteTable.of(votes)
    return first_of(fleiss_of(table, table.weights()))


def krippendorff_alpha(votes: pl.DataFrame, level: Level = "nominal") -> float | None:
    """Return Krippendorff's alpha of all items with two or more votes."""
    table = VoteTable.of(votes)
    return first_of(alpha_of(table, table.weights(), level))


def observed_agreement(votes: pl.DataFrame) -> float | None:
    """Return the percent agreement as a fraction."""
    table = VoteTable.of(votes)
    return first_of(observed_of(table, table.weights()))
