"""The agreement of first and second assessors in a round, and their time per item."""

from __future__ import annotations

from statistics import median
from typing import NamedTuple

import polars as pl

from arqkit.agreement.estimates import RESAMPLES, Agreement, agreement_of
from arqkit.agreement.votes import confusion_matrix
from arqkit.labels import LabelScale
from arqlab.core.models import User

IMPORTED = "imported"
"""The key of imported labels, which have no assessor."""
_KEY = pl.concat_str("topic", "doc_id", separator="\t").alias("item")


class OwnConsistency(NamedTuple):
    """The instances that an assessor labelled twice: their number, and how many labels are equal.

    `graded` and `binary` are Cohen's kappas of the first and the second labels.
    """

    name: str
    labels: int
    same: int
    graded: float | None
    binary: float | None


class AssessorTime(NamedTuple):
    """The first and the second labels of an assessor, and their median seconds."""

    name: str
    first: int
    first_seconds: float | None
    second: int
    second_seconds: float | None


def pair_agreement(
    pairs: pl.DataFrame, scale: LabelScale, *, relevant_from: int, resamples: int = RESAMPLES
) -> Agreement:
    """Return the agreement of the assessors of `second_pairs`, first or second."""
    votes = _votes(pairs, by_side=False)
    return agreement_of(votes, scale=scale, relevant_from=relevant_from, resamples=resamples)


def own_consistency(
    own: pl.DataFrame, scale: LabelScale, *, relevant_from: int
) -> list[OwnConsistency]:
    """Return how consistent each assessor of `own_pairs` is, by name."""
    rows = []
    for key, name in assessor_names(own).items():
        pairs = own.filter(_assessor("first") == key)
        if pairs.is_empty():
            continue
        votes = _votes(pairs, by_side=True)
        agreement = agreement_of(votes, scale=scale, relevant_from=relevant_from, resamples=0)
        same = pairs.filter(pl.col("first") == pl.col("second")).height
        kappas = (agreement.graded.total.value, agreement.binary.total.value)
        rows.append(OwnConsistency(name, pairs.height, same, *kappas))
    return rows


def pair_confusion(pairs: pl.DataFrame, scale: LabelScale) -> tuple[tuple[int, ...], ...]:
    """Return how often each first label (row) occurs with each second label (column)."""
    return confusion_matrix(_votes(pairs, by_side=True), "first", "second", scale=scale)


def assessor_names(pairs: pl.DataFrame) -> dict[str, str]:
    """Return the names of the assessors by key, in their order, imported labels last."""
    keys = {*pairs["first_assessor"].drop_nulls(), *pairs["second_assessor"].drop_nulls()}
    people = User.objects.filter(pk__in=keys).order_by("first_name", "last_name", "username")
    return {str(person.pk): person.name for person in people} | {IMPORTED: "Imported labels"}


def assessor_times(pairs: pl.DataFrame) -> list[AssessorTime]:
    """Return the labels and the median seconds of each assessor, and of all together at the end."""
    rows = []
    for key, name in assessor_names(pairs).items():
        firsts = pairs.filter(_assessor("first") == key)
        seconds = pairs.filter(_assessor("second") == key)
        if firsts.height or seconds.height:
            rows.append(_time(name, firsts, seconds))
    return [*rows, _time("All", pairs, pairs)]


def _time(name: str, firsts: pl.DataFrame, seconds: pl.DataFrame) -> AssessorTime:
    return AssessorTime(
        name,
        firsts.height,
        _median_seconds(firsts["first_ms"]),
        seconds.height,
        _median_seconds(seconds["second_ms"]),
    )


def _median_seconds(milliseconds: pl.Series) -> float | None:
    known = milliseconds.drop_nulls().to_list()
    return median(known) / 1000 if known else None


def _assessor(side: str) -> pl.Expr:
    return pl.col(f"{side}_assessor").cast(pl.String).fill_null(IMPORTED)


def _votes(pairs: pl.DataFrame, *, by_side: bool) -> pl.DataFrame:
    """Return the labels as votes of their assessors, or of "first" and "second"."""
    return pl.concat(
        pairs.select(
            _KEY,
            assessor=pl.lit(side) if by_side else _assessor(side),
            label=pl.col(side).cast(pl.Int64),
        )
        for side in ("first", "second")
    )
