"""`manage.py index_posts`."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from collection.models import VisualMap
from collection.selectors.visual_maps import newest_map
from collection.services.indexing import index_posts
from tests.collection.lookup import add_formulas, add_post, make_collection

pytestmark = pytest.mark.django_db


def test_it_updates_the_indexes_and_prints_counts(lab):
    collection, out = make_collection(lab), StringIO()
    add_post(collection, "1", "<p>one</p>")
    add_formulas(collection)

    call_command("index_posts", stdout=out)

    assert out.getvalue() == "small: 1 posts indexed.\nsmall: formulas indexed.\n"
    assert newest_map(collection).pairs


def test_a_collection_that_only_lacks_pairs_gets_them(lab):
    collection = make_collection(lab)
    index_posts(collection=collection)
    add_formulas(collection)

    call_command("index_posts", stdout=StringIO())

    assert newest_map(collection).pairs


def test_formulas_being_indexed_by_another_process_are_reported(lab):
    out = StringIO()
    add_formulas(make_collection(lab))
    VisualMap.objects.update(pairs_claimed_at=timezone.now())

    call_command("index_posts", "small", stdout=out)

    assert "small: formulas are being indexed by another process." in out.getvalue()


def test_one_collection_can_be_named(lab):
    out = StringIO()
    make_collection(lab)

    call_command("index_posts", "small", stdout=out)

    assert "0 posts" in out.getvalue()


def test_an_unknown_collection_is_refused():
    with pytest.raises(CommandError, match="Collection not found: nowhere"):
        call_command("index_posts", "nowhere")
