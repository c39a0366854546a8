"""The page of judged formulas that a version of the visual ids touches."""

import re

import pytest
from django.urls import reverse

from tests.assessment.qrels.selectors.test_rejudging import index
from tests.collection.factories import load_small, pairs
from tests.evaluation.factories import make_qrels
from tests.factories import FormulaTaskFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def merged(lab, tmp_path):
    """A lab whose second version of visual ids merges 80 into 70, with both judged."""
    task = FormulaTaskFactory(lab=lab, slug="task2")
    make_qrels(task, {"B.1": {"7": 3, "9": 2}}, items="formula-ids", name="official")
    load_small(lab, tmp_path, formulas=index())
    load_small(lab, tmp_path, formulas=index(f9="70"))
    return lab


def page(lab, version: int = 2) -> str:
    return reverse("assessment:affected-judgment-list", args=[lab.slug, version])


def test_each_judgment_appears_with_its_formula_and_the_reason(merged, organizer, client_of):
    html = client_of(organizer).get(page(merged)).text

    assert "formulas of 2 judgments in this lab" in html
    assert "It was merged into 70." in html
    assert "<math" in html


def test_visual_ids_lead_to_their_formulas_the_one_that_was_given_up_too(
    merged, organizer, client_of
):
    client = client_of(organizer)
    html = client.get(page(merged)).text

    for visual_id in ("70", "80"):
        address = reverse("collection:formula-detail", args=[merged.slug, visual_id])
        assert f'<a href="{address}">{visual_id}</a>' in html
        assert client.get(address).status_code == 200


def test_the_list_is_a_table_to_download(merged, organizer, client_of):
    response = client_of(organizer).get(page(merged) + "?format=tsv")

    assert response["Content-Type"].startswith("text/tab-separated-values")
    assert response.text.splitlines()[0].split("\t")[:4] == ["task", "qrels", "topic", "formula_id"]
    assert (
        response.text.splitlines()[2]
        == "task2\tofficial\tB.1\t9\t80\t70\t2\tIt was merged into 70."
    )


def test_a_version_that_affects_no_judgment_shows_a_message(merged, organizer, client_of):
    assert "No judged formulas changed" in client_of(organizer).get(page(merged, 1)).text


def test_an_unknown_version_is_not_found(merged, organizer, client_of):
    assert client_of(organizer).get(page(merged, 9)).status_code == 404


def test_members_do_not_see_judgments(merged, member, client_of):
    assert client_of(member).get(page(merged)).status_code == 404


def test_judgments_are_searched_filtered_sorted_and_paged(
    lab, tmp_path, organizer, client_of, django_assert_num_queries
):
    labels = {str(number): 3 if number == 5128 else number % 3 for number in range(5000, 5130)}
    task = FormulaTaskFactory(lab=lab, slug="task2")
    make_qrels(task, {"B.1": labels, "B.10": {"5001": 0}, "B.2": {"5002": 0}}, items="formula-ids")
    load_small(lab, tmp_path, formulas=pairs(merged=False))
    load_small(lab, tmp_path, formulas=pairs(merged=True))
    client = client_of(organizer)

    def found(query: str) -> tuple[bool, str]:
        with django_assert_num_queries(11):
            html = client.get(page(lab) + query).text
        [count] = re.findall(r"(\d+) rows?", html)
        return ">5128<" in html, count

    assert [found(query) for query in ("", "?page=2")] == [(False, "132"), (True, "132")]
    assert [found(f"?sort={order}formula") for order in ("", "-")] == [
        (False, "132"),
        (True, "132"),
    ]
    for query in ("?q=5128", "?label=3", "?q=X_{1128}", "?topic=B.1&q=merged+1128"):
        assert found(query) == (True, "1")
    assert found("?topic=B.2&q=5128") == (False, "0")
    topics = re.findall(
        r'<td class="id">(B\.\d+)</td>', client.get(page(lab) + "?sort=-topic").text
    )
    assert topics[:3] == ["B.10", "B.2", "B.1"]
