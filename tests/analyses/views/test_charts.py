"""Charts and tables of agreement have the figures of the kernel, in words that people read."""

import json
import re

import pytest
from django.template.loader import render_to_string

from analyses.views.charts import agreement_table, confusion_table, rounds_table
from arqkit.agreement.estimates import agreement_of
from arqkit.agreement.votes import confusion_matrix
from arqkit.protocols.scales import ARQMATH, NTCIR, TREC_BINARY
from tests.arqkit.agreement.tables import noisy_rows, votes_of

VOTES = votes_of(noisy_rows(40, 3, seed=1))
AGREEMENT = agreement_of(VOTES, scale=ARQMATH, relevant_from=2)
NAMES = {"c": "Assessor 1", "absent": "Assessor 2", "a": "Assessor 3", "b": "Assessor 4"}
CELL = re.compile(r"<t[hd][^>]*>(.*?)</t[hd]>", re.S)


def rows_of(html):
    """Return the texts of the cells of all rows of a table."""
    rows = re.findall(r"<tr>(.*?)</tr>", html, re.S)
    cells = [[re.sub(r"<[^>]*>", " ", cell) for cell in CELL.findall(row)] for row in rows]
    return [[" ".join(cell.split()) for cell in row] for row in cells]


def render(table):
    return render_to_string("components/table.html", {"table": table})


def chart_of(html):
    return json.loads(re.search(r'<script id="[^>]*>(.*?)</script>', html, re.S)[1])


def figure(estimate):
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high}


def words(estimate):
    return [f"{estimate.value:.2f}", f"{estimate.low:.2f} to {estimate.high:.2f}"]


def test_the_chart_has_the_mean_pairwise_kappas_of_the_bundle():
    chart = chart_of(render(agreement_table(AGREEMENT, NAMES)))
    graded, binary = AGREEMENT.graded, AGREEMENT.binary

    assert chart["series"] == ["Four-way", "H+M binary"]
    assert chart["groups"] == [
        *(
            {
                "name": NAMES[key],
                "figures": [figure(graded.assessors[key]), figure(binary.assessors[key])],
            }
            for key in "cab"
        ),
        {"name": "Mean", "figures": [figure(graded.total), figure(binary.total)]},
    ]


def test_the_table_has_the_figures_of_the_chart_and_the_overall_coefficients():
    head, *rows = rows_of(render(agreement_table(AGREEMENT, NAMES)))
    graded, binary = AGREEMENT.graded, AGREEMENT.binary
    both = [(graded.assessors[key], binary.assessors[key]) for key in "cab"]
    overall = ("total", "fleiss", "ordinal", "nominal", "observed")
    both += [(getattr(graded, name), getattr(binary, name)) for name in overall]

    assert head[2:5] == ["Four-way", "Four-way, 95% interval", "H+M binary"]
    assert [row[0] for row in rows[:4]] == ["Assessor 1", "Assessor 3", "Assessor 4", "Mean"]
    assert [int(row[1]) for row in rows[:3]] == [AGREEMENT.judged[key] for key in "cab"]
    assert {int(row[1]) for row in rows[3:]} == {AGREEMENT.items}
    assert [row[2:] for row in rows] == [words(one) + words(other) for one, other in both]


def test_rounds_are_compared_by_fleiss_kappa():
    other = agreement_of(votes_of(noisy_rows(30, 3, seed=2)), scale=ARQMATH, relevant_from=2)
    html = render(rounds_table([("Round 1", AGREEMENT), ("Round 2", other)]))

    assert [group["figures"] for group in chart_of(html)["groups"]] == [
        [figure(each.graded.fleiss), figure(each.binary.fleiss)] for each in (AGREEMENT, other)
    ]
    assert [row[:2] for row in rows_of(html)[1:]] == [
        ["Round 1", str(AGREEMENT.items)],
        ["Round 2", str(other.items)],
    ]


def test_without_common_items_there_is_a_table_and_no_chart():
    empty = agreement_of(votes_of([(1, None), (None, 2)]), scale=ARQMATH, relevant_from=2)
    html = render(agreement_table(empty, {"a": "Assessor 1", "b": "Assessor 2"}))

    assert "data-chart" not in html
    assert "Agreement can be computed when" in html
    assert rows_of(html)[1] == ["Assessor 1", "0", "–", "–", "–", "–"]


@pytest.mark.parametrize(
    ("scale", "relevant_from", "ways"),
    [(NTCIR, 3, ("Five-way", "4+3 binary")), (TREC_BINARY, 1, ("Binary",))],
)
def test_other_scales_have_their_own_ways_to_read_labels(scale, relevant_from, ways):
    agreement = agreement_of(VOTES.clear(), scale=scale, relevant_from=relevant_from)

    columns = agreement_table(agreement, {}).columns
    assert tuple(column.heading for column in columns[2::2]) == ways


def test_a_confusion_matrix_shows_counts_and_parts_of_rows_with_words():
    matrix = confusion_matrix(
        votes_of([(3, 3)] * 3 + [(3, 2), (0, 2), (0, 0), (0, 0)]), "a", "b", scale=ARQMATH
    )
    table = confusion_table(matrix, ARQMATH, first="first labels", second="second labels")
    html = render(table)

    assert rows_of(html) == [
        ["first labels", "H High", "M Medium", "L Low", "N Not relevant", "Total"],
        ["H High", "3 75%", "1 25%", "0", "0", "4"],
        ["M Medium", "0", "0", "0", "0", "0"],
        ["L Low", "0", "0", "0", "0", "0"],
        ["N Not relevant", "0", "1 33%", "0", "2 67%", "3"],
        ["Total", "3", "2", "0", "2", "7"],
    ]
    assert "Equal labels: 5 of 7, outlined." in html
    assert re.findall(r"heat-(\d+) is-same", html) == ["7", "0", "0", "6"]
