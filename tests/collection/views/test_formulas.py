"""The page of a formula."""

import polars as pl
import pytest

from collection.models import Collection
from collection.selectors.formulas import visual_id_of
from collection.selectors.visual_maps import newest_map
from tests.collection.lookup import add_map, add_post, formula, make_searched


@pytest.fixture
def collection(lab) -> Collection:
    return make_searched(lab)


@pytest.fixture
def show(client_of, organizer):
    client = client_of(organizer)
    return lambda visual_id, **options: client.get(
        f"/labs/arqmath-x/formulas/{visual_id}/", options
    )


def visual(collection: Collection, formula_id: str) -> str:
    return visual_id_of(newest_map(collection), formula_id)


def test_a_formula_shows_how_it_is_written_and_where_it_appears(show, collection):
    html = " ".join(show(visual(collection, "101")).content.decode().split())

    assert "2 instances in 2 posts of 1 thread" in html
    assert "<code>a^2+b^2=c^2</code>" in html
    assert "<code>a^{2}+b^{2}=c^{2}</code>" in html
    assert "/posts/10/?formula=102#post-10" in html
    assert "are primitive?" in html


def test_it_shows_its_layout_and_similar_formulas(show, collection):
    html = show(visual(collection, "101")).content.decode()

    assert "V!a a[ N!2 ]" in html
    assert f"/formulas/{visual(collection, '103')}/" in html


def test_an_instance_leads_to_its_formula(client_of, organizer, collection):
    response = client_of(organizer).get("/labs/arqmath-x/formulas/by-id/102/")

    assert response["Location"] == f"/labs/arqmath-x/formulas/{visual(collection, '101')}/"


@pytest.mark.parametrize("path", ["formulas/nothing/", "formulas/by-id/999/"])
def test_what_is_not_there_is_not_found(client_of, organizer, collection, path):
    assert client_of(organizer).get(f"/labs/arqmath-x/{path}").status_code == 404


def test_a_lab_without_formulas_has_no_page_of_one(client_of, organizer):
    assert client_of(organizer).get("/labs/arqmath-x/formulas/1/").status_code == 404


def test_a_visual_id_of_any_signs_that_an_index_gave_has_a_page(show, collection):
    version = newest_map(collection)
    mapping, forms = (
        pl.read_parquet(getattr(version, name).open()) for name in ("mapping", "forms")
    )
    named = pl.lit("a/b ?#%").alias("visual_id")
    add_map(collection, mapping.with_columns(named), forms.head(1).with_columns(named))

    page = show("by-id/102")

    assert page["Location"] == "/labs/arqmath-x/formulas/a/b%20%3F%23%25/"
    assert "4 instances" in " ".join(page.client.get(page["Location"]).text.split())


def test_an_id_that_was_merged_away_shows_into_which(show, collection):
    version, gone = newest_map(collection), visual(collection, "103")
    mapping, forms = (
        pl.read_parquet(getattr(version, name).open()) for name in ("mapping", "forms")
    )
    kept = visual(collection, "101")
    changes = pl.DataFrame(
        {
            "change": ["merge"],
            "formula_id": ["103"],
            "old_visual_id": [gone],
            "new_visual_id": [kept],
        }
    )
    moved = mapping.with_columns(visual_id=pl.col("visual_id").replace(gone, kept))
    add_map(collection, moved, forms.filter(pl.col("visual_id") != gone), changes)

    old, new = (" ".join(show(one).content.decode().split()) for one in (gone, kept))

    assert f'merged into <a href="/labs/arqmath-x/formulas/{kept}/">' in old
    assert "no longer used" in old
    assert "merged from" in new
    assert "3 instances" in new


def test_many_instances_appear_on_several_pages(show, collection):
    from tests.collection.lookup import add_formulas

    collection.visual_maps.all().delete()
    spans = {str(1000 + number): ("1", "1", "question", "q^7") for number in range(110)}
    add_post(collection, "70", formula("1000", "q^7"), title="Many")
    add_formulas(collection, spans)
    page = visual(collection, "1000")

    assert "Page 1 of 2" in show(page).content.decode()
    assert show(page, page="2").content.decode().count('<th scope="row" class="id">') == 10


def test_the_number_of_queries_is_small(show, collection, django_assert_num_queries):
    page = visual(collection, "101")
    with django_assert_num_queries(9):
        show(page)
