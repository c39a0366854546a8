"""Charts and tables of agreement: coefficients by assessor or round, and confusion matrices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.contrib.humanize.templatetags.humanize import apnumber

from arqkit.agreement.estimates import Agreement, Coefficients, Estimate
from arqkit.labels import LabelScale, ScaleLabel
from assessment.pools.views.charts import HEATS


class AgreementRow(NamedTuple):
    """A name, its number of items, and its coefficient for each way to read the labels."""

    name: str
    items: int
    figures: tuple[Estimate, ...]


@dataclass(frozen=True)
class AgreementPicture:
    """A coefficient of agreement as a bar chart and a table (000 figures 3-5, 004 figures 3 and 4).

    - coefficient: what the bars show.
    - heading: what the rows are.
    - ways: how labels are read, such as "Four-way" and "H+M binary".
    - rows: the bars; `total` is the last bar, or None.
    - others: coefficients that are only in the table.
    """

    coefficient: str
    heading: str
    ways: tuple[str, ...]
    rows: Sequence[AgreementRow]
    total: AgreementRow | None = None
    others: Sequence[AgreementRow] = ()

    @property
    def below(self) -> list[AgreementRow]:
        """Return the rows at the foot of the table."""
        return [*([self.total] if self.total else []), *self.others]

    @property
    def has_values(self) -> bool:
        """Return whether there is a bar to draw."""
        rows = [*self.rows, *self.below]
        return any(figure.value is not None for row in rows for figure in row.figures)

    @property
    def data(self) -> dict[str, Any]:
        """Return the data of the chart, as `js/charts.js` reads it."""
        bars = [*self.rows, *([self.total] if self.total else [])]
        groups = [
            {
                "name": row.name,
                "figures": [
                    {"value": figure.value, "low": figure.low, "high": figure.high}
                    for figure in row.figures
                ],
            }
            for row in bars
        ]
        return {"coefficient": self.coefficient, "series": list(self.ways), "groups": groups}


def agreement_picture(agreement: Agreement, names: Mapping[str, str]) -> AgreementPicture:
    """Return the mean pairwise kappas of assessors, and the other coefficients below them.

    `names` has the name to show for each assessor in the votes, in the order of the rows. It may
    have assessors without votes, who are left out.
    """
    ways = _ways(agreement)
    rows = [
        AgreementRow(
            names[key],
            agreement.judged[key],
            tuple(coefficients.assessors[key] for coefficients in ways.values()),
        )
        for key in names
        if key in agreement.judged
    ]
    total, *others = [
        AgreementRow(name, agreement.items, tuple(estimates))
        for name, estimates in _overall(ways.values())
    ]
    return AgreementPicture(
        "Mean pairwise Cohen’s kappa", "Assessor", tuple(ways), rows, total, others
    )


def rounds_picture(rounds: Iterable[tuple[str, Agreement]]) -> AgreementPicture:
    """Return Fleiss' kappa of some rounds, each with its name; they have the same scale."""
    ways: tuple[str, ...] = ()
    rows = []
    for name, agreement in rounds:
        by_way = _ways(agreement)
        ways = tuple(by_way)
        rows.append(AgreementRow(name, agreement.items, tuple(w.fleiss for w in by_way.values())))
    return AgreementPicture("Fleiss’ kappa", "Round", ways, rows)


def _ways(agreement: Agreement) -> dict[str, Coefficients]:
    """Return the coefficients by the way to read labels; on a binary scale there is only one."""
    judgments = agreement.scale.judgments
    if len(judgments) == 2:
        return {"Binary": agreement.binary}
    relevant = [label.letter for label in judgments if label.value >= agreement.relevant_from]
    graded = f"{apnumber(len(judgments))}-way".capitalize()
    return {graded: agreement.graded, f"{'+'.join(relevant)} binary": agreement.binary}


def _overall(ways: Iterable[Coefficients]) -> list[tuple[str, list[Estimate]]]:
    coefficients = list(ways)
    return [
        ("Mean", [way.total for way in coefficients]),
        ("Fleiss’ kappa", [way.fleiss for way in coefficients]),
        ("Krippendorff’s alpha, ordinal", [way.ordinal for way in coefficients]),
        ("Krippendorff’s alpha, nominal", [way.nominal for way in coefficients]),
        ("Observed agreement", [way.observed for way in coefficients]),
    ]


class ConfusionCell(NamedTuple):
    """The number of items with two labels, its % of the row, its shade; equal labels agree."""

    items: int
    percent: int | None
    heat: int
    is_same: bool


class ConfusionRow(NamedTuple):
    """A label of the first judgments, with the labels of the second."""

    label: ScaleLabel
    cells: list[ConfusionCell]
    total: int


@dataclass(frozen=True)
class ConfusionPicture:
    """A confusion matrix: how often each pair of labels occurs in two judgments of an item."""

    first: str
    second: str
    rows: list[ConfusionRow]
    totals: list[int]

    @property
    def labels(self) -> list[ScaleLabel]:
        """Return the labels of rows and columns."""
        return [row.label for row in self.rows]

    @property
    def items(self) -> int:
        """Return the number of items with two judgments."""
        return sum(self.totals)

    @property
    def same(self) -> int:
        """Return the number of items with equal labels."""
        return sum(cell.items for row in self.rows for cell in row.cells if cell.is_same)


def confusion_picture(
    matrix: Sequence[Sequence[int]], scale: LabelScale, *, first: str, second: str
) -> ConfusionPicture:
    """Return a matrix of `confusion_matrix` with the words of its labels and its shades.

    `first` and `second` name the judgments in rows and columns, such as "First judgment".
    """
    rows = [
        ConfusionRow(label, _cells(counts, place), sum(counts))
        for place, (label, counts) in enumerate(zip(scale.judgments, matrix, strict=True))
    ]
    return ConfusionPicture(
        first, second, rows, [sum(column) for column in zip(*matrix, strict=True)]
    )


def _cells(counts: Sequence[int], place: int) -> list[ConfusionCell]:
    total = sum(counts)
    percents = [round(100 * count / total) if total else None for count in counts]
    return [
        ConfusionCell(count, percent, (percent or 0) * HEATS // 100, column == place)
        for column, (count, percent) in enumerate(zip(counts, percents, strict=True))
    ]
