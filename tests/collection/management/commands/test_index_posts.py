"""`manage.py index_posts`."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from collection.selectors import newest_map
from tests.collection.lookup import add_formulas, add_post, make_collection

pytestmark = pytest.mark.django_db


def test_it_indexes_what_waits_and_says_how_much(lab):
    collection, out = make_collection(lab), StringIO()
    add_post(collection, "1", "<p>one</p>")
    add_formulas(collection)

    call_command("index_posts", stdout=out)

    assert out.getvalue() == "small: 1 posts were indexed.\n"
    assert newest_map(collection).pairs


def test_one_collection_can_be_named(lab):
    out = StringIO()
    make_collection(lab)

    call_command("index_posts", "small", stdout=out)

    assert "0 posts" in out.getvalue()


def test_an_unknown_collection_is_told():
    with pytest.raises(CommandError, match="no collection nowhere"):
        call_command("index_posts", "nowhere")
