"""Tables are declared once, and drawn and written from the same columns."""

import json
from operator import itemgetter
from types import SimpleNamespace

import polars as pl
import pytest
from django.http import Http404
from django.template.loader import render_to_string
from django.test import RequestFactory

from arqlab.web import Chart, Column, Empty, Filter, Prepared, Table, answer, cells, choice_column
from arqlab.web.tables import FORMATS

ROWS = [
    {"tag": "bm25", "team": SimpleNamespace(name="<Alpha>"), "map": 0.25, "size": 12000},
    {"tag": "=dense", "team": None, "map": None, "size": 0},
]


def make_table(rows=ROWS, **options) -> Table:
    return Table(
        "runs",
        [
            Column(
                "Run",
                lambda row: row["tag"],
                is_head=True,
                link=lambda row: f"/runs/{row['size']}/",
            ),
            Column("Team", lambda row: row["team"] and row["team"].name, name="team"),
            Column("MAP", lambda row: row["map"], cells.SCORE, best=lambda row: row["map"] == 0.25),
            Column("Size", lambda row: row["size"], cells.COUNT, name=None),
            Column("", lambda row: row["map"], name="exact"),
        ],
        rows,
        file="lab-runs",
        **options,
    )


def drawn(table: Table, address: str = "/") -> str:
    context = {"table": table}
    html = render_to_string("components/table.html", context, RequestFactory().get(address))
    return " ".join(html.split())


def file(table: Table, format_: str) -> str:
    request = RequestFactory().get("/", {"format": format_})
    return answer(request, "no template", {}, table).content.decode()


def test_a_cell_is_escaped_linked_and_formatted_by_its_kind():
    html = drawn(make_table())

    assert '<th scope="row"><a href="/runs/12000/">bm25</a></th>' in html
    assert "<td>&lt;Alpha&gt;</td>" in html
    assert '<td class="num best">0.2500</td>' in html
    assert '<td class="num">12,000</td>' in html


def test_a_score_that_is_no_number_is_a_dash():
    rows = [{**ROWS[0], "map": float("nan")}]
    assert '<td class="num">–</td>' in drawn(make_table(rows))


def test_a_missing_value_is_a_dash_on_the_page_and_empty_in_files():
    assert '<td class="num">–</td>' in drawn(make_table())
    assert file(make_table(), "tsv").splitlines()[2] == "'=dense\t\t\t"


def test_page_and_file_have_their_own_columns():
    html = drawn(make_table())

    assert "Size" in html
    assert "exact" not in html
    assert file(make_table(), "csv").removeprefix("\ufeff").splitlines()[0] == "Run,team,MAP,exact"


def test_json_keeps_all_digits_and_missing_values():
    exact, missing = json.loads(file(make_table(), "json"))

    assert exact == {"Run": "bm25", "team": "<Alpha>", "MAP": 0.25, "exact": 0.25}
    assert missing["MAP"] is None


def test_json_is_valid_whatever_a_row_has():
    rows = [{"tag": "bm25", "team": None, "map": float("nan"), "size": SimpleNamespace()}]
    table = Table(
        "runs",
        [Column("MAP", itemgetter("map")), Column("Size", itemgetter("size"))],
        rows,
        file="runs",
    )

    [record] = json.loads(file(table, "json"))
    assert record == {"MAP": None, "Size": "namespace()"}


def test_latex_prints_four_decimals_on_the_right():
    text = file(make_table(), "latex")

    assert r"\begin{tabular}{llrr}" in text
    assert r"bm25 & \textless{}Alpha\textgreater{} & 0.2500 & 0.2500 \\" in text


@pytest.mark.parametrize("format_", FORMATS)
def test_a_table_without_rows_is_a_whole_file(format_):
    assert file(make_table([]), format_).strip()


def test_a_format_that_no_file_has_is_not_found():
    with pytest.raises(Http404):
        file(make_table(), "pdf")


def test_a_page_offers_the_files_of_its_table():
    html = drawn(make_table(), "/?by=category")

    assert all(f'href="?by=category&amp;format={format_}"' in html for format_ in FORMATS)


def test_an_empty_table_says_what_will_appear():
    table = make_table([], empty=Empty("No runs", "Runs appear here.", "/submit/", "Submit run"))

    assert "<h2>No runs</h2> <p>Runs appear here.</p>" in drawn(table)
    assert '<a class="btn" href="/submit/">Submit run</a>' in drawn(table)


def test_the_foot_has_a_value_for_each_column_of_the_page():
    html = drawn(make_table(foot=[["Mean", "", 0.125, 6000]]))

    assert '<th scope="row">Mean</th>' in html
    assert '<td class="num">0.1250</td> <td class="num">6,000</td>' in html


def test_neighbours_share_a_heading():
    table = Table("scores", [Column("Run"), Column("a", over="2020"), Column("b", over="2020")], [])

    assert table.overs == [("", 1), ("2020", 2)]


def listed(**asked: str) -> Table:
    rows = pl.DataFrame({"topic": ["A.9", "A.10", "A.2"], "label": ["High", "Low", "High"]})
    columns = [
        Column("Topic", itemgetter("topic"), order="topic"),
        Column("Label", itemgetter("label"), order="label"),
    ]
    filters = [Filter("label", "Label", "label")]
    options = {"asked": asked, "order": "topic", "searched": ("topic",), "filters": filters}
    return Table("labels", columns, rows, **options)


def topics(table: Table) -> list[str]:
    return [line.cells[0].html for line in table.lines]


def test_a_list_is_sorted_by_its_usual_order_or_the_one_that_is_asked_for():
    assert topics(listed()) == ["A.2", "A.9", "A.10"]
    assert topics(listed(sort="-topic")) == ["A.10", "A.9", "A.2"]
    assert topics(listed(sort="password")) == ["A.2", "A.9", "A.10"]


def test_a_list_is_filtered_and_searched():
    assert topics(listed(label="High")) == ["A.2", "A.9"]
    assert topics(listed(q="a.1")) == ["A.10"]


def test_a_list_without_matching_rows_offers_all_of_them():
    html = drawn(listed(q="nothing"), "/?q=nothing")

    assert "No matching labels" in html
    assert "Show all" in html


def test_a_list_shows_all_rows_and_the_limit_after_a_search_that_is_too_long():
    html = drawn(listed(q="x" * 1001), "/")

    assert "Shorten the search to 1,000 characters." in html
    assert topics(listed(q="x" * 1001)) == ["A.2", "A.9", "A.10"]


def test_rows_are_prepared_for_the_page_only():
    table = make_table(
        Prepared(ROWS, lambda rows: [{**row, "tag": row["tag"].upper()} for row in rows])
    )

    assert [line.cells[0].html for line in table.lines][1] == '<a href="/runs/0/">=DENSE</a>'
    assert "bm25" in file(table, "tsv")


def test_a_chart_stands_above_its_folded_table():
    chart = Chart(
        "bars", {"runs": []}, "Bars of all runs.", caption="Runs without a score are left out."
    )
    html = drawn(make_table(chart=chart, fold="Runs as a table"))

    assert html.index("<figcaption>Runs without") < html.index("<summary>Runs as a table</summary>")
    assert 'data-chart="bars" data-source="runs-data"' in html


def test_rows_are_selected_in_the_form_of_the_table():
    column = choice_column(
        "runs", "run", lambda row: row["tag"] if row["size"] else None, spoken=itemgetter("tag")
    )
    html = drawn(Table("runs", [column], ROWS))

    assert 'data-choose-all="runs"' in html
    assert html.count('<input type="checkbox" form="runs-form" name="run" value="bm25"') == 1
    assert "=dense" not in html


def test_a_long_table_is_divided_into_pages_of_its_own_and_its_file_is_whole():
    rows = [ROWS[0] | {"tag": f"run{number}"} for number in range(250)]
    request = RequestFactory().get("/?runs-page=2&measure=AP")
    html = drawn(make_table(rows, asked=request.GET), "/?runs-page=2&measure=AP")

    assert html.count("<tr") == 101
    assert "run100<" in html
    assert 'href="?runs-page=3&amp;measure=AP#runs"' in html
    assert "Page 2 of 3" in html
    assert make_table(rows).response("tsv").content.count(b"\n") == 251
    assert drawn(make_table(rows[:120])).count("<tr") == 121
