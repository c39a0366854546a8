"""The page of a version of the visual ids."""

import re

import pytest
from django.urls import reverse

from tests.assessment.qrels.selectors.test_rejudging import index
from tests.collection.factories import load_small, pairs

pytestmark = pytest.mark.django_db


@pytest.fixture
def merged(lab, tmp_path):
    """A lab whose second version of visual ids merges 80 into 70."""
    load_small(lab, tmp_path, formulas=index())
    load_small(lab, tmp_path, formulas=index(f9="70"))
    return lab


def page(lab, version: int = 2) -> str:
    return reverse("collection:visual-map-detail", args=[lab.slug, version])


def test_a_merge_appears_with_both_formulas_typeset(merged, organizer, client_of):
    html = client_of(organizer).get(page(merged)).text

    assert "1 merge and 0 splits since version 1" in html
    assert (
        html.index(">80<")
        < html.index("<mi>y</mi>")
        < html.index(">70<")
        < html.index("<mi>x</mi>")
    )


def test_the_first_version_shows_the_second_opinion(merged, organizer, client_of):
    html = client_of(organizer).get(page(merged, 1)).text

    assert "This is the first version." in html
    assert "No differences" in html


def test_where_we_would_split_given_ids_is_shown(merged, organizer, client_of):
    html = client_of(organizer).get(page(merged) + "?list=opinion").text

    assert "Would split" in html
    assert "<mi>y</mi>" in html
    assert (
        f'<a href="{reverse("collection:formula-detail", args=[merged.slug, "70"])}">70</a>' in html
    )


def test_both_lists_can_be_downloaded(merged, organizer, client_of):
    client = client_of(organizer)
    changes = client.get(page(merged) + "?list=changes&format=tsv").text.splitlines()
    opinion = client.get(page(merged) + "?list=opinion&format=tsv").text.splitlines()

    assert changes == ["change\tformula_id\told_visual_id\tnew_visual_id", "merge\t9\t80\t70"]
    assert opinion[1].split("\t")[:2] == ["would split", "70"]


def test_an_unknown_list_is_no_file(merged, organizer, client_of):
    assert client_of(organizer).get(page(merged) + "?list=mapping&format=tsv").status_code == 404


def test_every_version_is_linked(merged, organizer, client_of):
    assert f'href="{page(merged, 1)}"' in client_of(organizer).get(page(merged)).text


def test_an_unknown_version_is_not_found(merged, organizer, client_of):
    assert client_of(organizer).get(page(merged, 3)).status_code == 404


def test_a_version_of_another_collection_is_not_found(organizer, lab, client_of):
    assert client_of(organizer).get(page(lab, 1)).status_code == 404


@pytest.fixture
def found(lab, tmp_path, organizer, client_of, django_assert_max_num_queries):
    """Return a function: whether the page of 130 merges lists 5128, and its number of rows."""
    load_small(lab, tmp_path, formulas=pairs(merged=False))
    load_small(lab, tmp_path, formulas=pairs(merged=True))
    client = client_of(organizer)

    def ask(query: str) -> tuple[bool, str]:
        with django_assert_max_num_queries(19):
            html = client.get(page(lab) + query).text
        [count] = re.findall(r"(\d+) rows?", html)
        return "5128" in re.sub(r'="[^"]*"', "", html), count

    return ask


def test_merges_are_searched_filtered_sorted_and_paged(found):
    assert [found(query) for query in ("", "?page=2")] == [(False, "130"), (True, "130")]
    assert [found(f"?sort={order}before") for order in ("", "-")] == [(False, "130"), (True, "130")]
    assert [found(f"?q={words}") for words in ("5128", "X_{1128}+5128")] == [(True, "1")] * 2
    assert found("?change=merge&q=5128") == (True, "1")
    assert found("?change=merge&q=nothing") == (False, "0")


def test_the_second_opinion_is_searched(found):
    assert found("?list=opinion") == (False, "130")
    assert found("?list=opinion&kind=would+split&q=X_{5128}") == (True, "1")
