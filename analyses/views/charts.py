"""Charts and tables of agreement: coefficients by assessor or round, and confusion matrices."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from django.contrib.humanize.templatetags.humanize import apnumber, intcomma
from django.utils.html import format_html

from arqkit.agreement.estimates import Agreement, Coefficients, Estimate
from arqkit.labels import LabelScale
from arqlab.web import Chart, Column, Table, cells
from assessment.pools.views.charts import HEATS

MOST_NARROW = 16
"""The most bars of a chart that needs no more than half the page."""
NO_VALUES = (
    " Agreement can be computed when two assessors have judged the same items with different "
    "labels."
)

INTERVAL = cells.CellKind(
    lambda figure: cells.DASH if figure.low is None else f"{figure.low:.2f} to {figure.high:.2f}",
    "num",
)


class ConfusionRow(NamedTuple):
    """A first label, with the counts of the second labels, and its place among the labels."""

    label: str
    counts: Sequence[int]
    place: int


class AgreementRow(NamedTuple):
    """A name, its number of items, and its coefficient for each way to read the labels."""

    name: str
    items: int
    figures: tuple[Estimate, ...]


def agreement_table(
    agreement: Agreement, names: Mapping[str, str], *, of: str = "Assessor"
) -> Table[AgreementRow]:
    """Return the mean pairwise kappas of assessors or groups, other coefficients below them.

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
    below = [
        AgreementRow(name, agreement.items, tuple(estimates))
        for name, estimates in _overall(ways.values())
    ]
    name = f"{of.lower()}s-table"
    return _table(name, "Mean pairwise Cohen’s kappa", of, ways, rows, below)


def rounds_table(rounds: Iterable[tuple[str, Agreement]]) -> Table[AgreementRow]:
    """Return Fleiss' kappa of some rounds, each with its name; they have the same scale."""
    ways: Mapping[str, Coefficients] = {}
    rows = []
    for name, agreement in rounds:
        ways = _ways(agreement)
        rows.append(AgreementRow(name, agreement.items, tuple(w.fleiss for w in ways.values())))
    return _table("rounds-table", "Fleiss’ kappa", "Round", ways, rows, [])


def _table(
    name: str,
    coefficient: str,
    heading: str,
    ways: Iterable[str],
    rows: Sequence[AgreementRow],
    below: Sequence[AgreementRow],
) -> Table[AgreementRow]:
    """Return a coefficient as bars (000 figures 3-5, 004 figures 3 and 4) and in figures.

    `ways` are how labels are read, such as "Four-way". The first row of those below is a bar too.
    """
    columns: list[Column[AgreementRow]] = [
        Column(heading, lambda row: row.name, is_head=True),
        Column("Items", lambda row: row.items, cells.COUNT),
    ]
    for place, way in enumerate(ways):
        columns += _way_columns(place, way)
    has_values = any(figure.value is not None for row in [*rows, *below] for figure in row.figures)
    label = f"{coefficient} by {heading.lower()}."
    chart = Chart(
        "coefficients",
        {
            "coefficient": coefficient,
            "series": list(ways),
            "groups": list(map(_bars, [*rows, *below[:1]])),
        },
        f"{label} The table below has the same numbers.",
        css="chart-middle" if len(rows) <= MOST_NARROW else "",
        caption=f"{label} Whiskers are 95% confidence intervals.",
    )
    return Table[AgreementRow](
        name,
        columns,
        rows,
        caption=f"{coefficient}. Items have labels of at least two assessors."
        + NO_VALUES * (not has_values),
        chart=chart if has_values else None,
        foot=[
            [row.name, row.items, *(it for figure in row.figures for it in (figure.value, figure))]
            for row in below
        ],
    )


def _bars(row: AgreementRow) -> dict[str, object]:
    """Return the bars of a row with their whiskers, as `js/charts.js` reads them."""
    figures = [
        {"value": figure.value, "low": figure.low, "high": figure.high} for figure in row.figures
    ]
    return {"name": row.name, "figures": figures}


def _way_columns(place: int, way: str) -> tuple[Column[AgreementRow], Column[AgreementRow]]:
    """Return the columns of a coefficient and its interval by a way to read labels."""
    interval = format_html('<span class="visually-hidden">{}, </span>95% interval', way)
    return (
        Column(way, lambda row: row.figures[place].value, cells.HUNDREDTHS),
        Column(interval, lambda row: row.figures[place], INTERVAL),
    )


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


def confusion_table(
    matrix: Sequence[Sequence[int]], scale: LabelScale, *, first: str, second: str
) -> Table[ConfusionRow]:
    """Return a matrix of `confusion_matrix` with its labels, and a shade for each share of a row.

    `first` and `second` name the judgments in rows and columns, such as "First judgment".
    """
    totals = [sum(column) for column in zip(*matrix, strict=True)]
    same = sum(counts[place] for place, counts in enumerate(matrix))
    labels = [cells.label(label) for label in scale.judgments]
    return Table[ConfusionRow](
        "first-second",
        [
            Column(first, lambda row: row.label, is_head=True, hides_heading=True),
            *(_confusion_column(label, place) for place, label in enumerate(labels)),
            Column("Total", lambda row: sum(row.counts), cells.COUNT),
        ],
        [ConfusionRow(*row) for row in zip(labels, matrix, range(len(labels)), strict=True)],
        caption=f"Rows: {first}. Columns: {second}. Equal labels: {same:,} of {sum(totals):,}, "
        "outlined. The stronger the colour, the larger the share of the row.",
        css="confusion",
        foot=[["Total", *(f"{total:,}" for total in totals), sum(totals)]],
    )


def _confusion_column(label: str, column: int) -> Column[ConfusionRow]:
    """Return the counts of a label in the second judgments, with their % of the row."""

    def percent(counts: Sequence[int]) -> int:
        return round(100 * counts[column] / (sum(counts) or 1))

    def cell(row: ConfusionRow) -> str:
        count = row.counts[column]
        if not count:
            return "0"
        return format_html("{} <small>{}%</small>", intcomma(count), percent(row.counts))

    def css(row: ConfusionRow) -> str:
        return f"heat-{percent(row.counts) * HEATS // 100}{' is-same' * (row.place == column)}"

    return Column(label, cell, css="num", cell_css=css)
