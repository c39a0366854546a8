"""`manage.py export_visual_ids`."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from collection.models import Collection
from tests.collection.factories import NOW
from tests.collection.services.test_visual_maps import ROWS, take_in

pytestmark = pytest.mark.django_db
SLUG = "small"


@pytest.fixture
def collection(tmp_path):
    collection = Collection.objects.create(slug=SLUG, loaded_at=NOW)
    take_in(collection, tmp_path, *ROWS)
    return collection


def printed(*options: str) -> list[str]:
    out = StringIO()
    call_command("export_visual_ids", SLUG, *options, stdout=out)
    return out.getvalue().splitlines()


def test_it_prints_the_visual_id_of_every_instance(collection):
    header, *rows = printed()

    assert header == "formula_id\tvisual_id"
    assert set(rows) == {"1\t70", "2\t70", "3\t71"}


def test_parts_are_joined_under_one_header(collection, monkeypatch):
    whole = printed()
    monkeypatch.setattr("collection.selectors.visual_maps.ROWS_AT_ONCE", 1)

    assert printed() == whole
    assert len(whole) > 3


def test_an_earlier_version_and_its_changes_are_printed(collection, tmp_path):
    before = printed()
    take_in(collection, tmp_path, ROWS[0], "2\t1\t1\ttitle\t71\tx", ROWS[2])
    newest = collection.visual_maps.count()

    assert printed() != before
    assert printed("--number", str(newest - 1)) == before
    assert printed("--table", "changes")[0] == ("change\tformula_id\told_visual_id\tnew_visual_id")


def test_unknown_collections_and_versions_are_refused_with_the_known_ones(collection):
    with pytest.raises(CommandError, match="no version 9 of its visual ids"):
        printed("--number", "9")
    with pytest.raises(CommandError, match="Collection not found: large"):
        call_command("export_visual_ids", "large")


def test_a_collection_without_visual_ids_is_refused(collection):
    collection.visual_maps.all().delete()

    with pytest.raises(CommandError, match="none yet; run make_visual_ids"):
        printed()
