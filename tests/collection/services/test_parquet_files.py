"""Parquet files: used files are kept, and unused files are deleted."""

from datetime import UTC, datetime, timedelta

import polars as pl
import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from collection.models import Collection, VisualMap
from collection.services.parquet_files import delete_unused_files, store_frame
from collection.tasks import sweep_columns as sweep_task
from tests.collection.factories import NOW

pytestmark = pytest.mark.django_db
FRAME = pl.DataFrame({"formula_id": ["7"]})


def later() -> datetime:
    return datetime.now(UTC) + timedelta(days=2)


def test_the_name_depends_on_the_content():
    names = [
        store_frame(slug="named", what="posts", frame=frame) for frame in (FRAME, FRAME.clear())
    ]

    assert len({name.split("-")[2][:12] for name in names}) == 2
    assert all(name.startswith("collections/named-posts-") for name in names)


def test_an_unused_file_is_deleted_when_it_is_old():
    orphan = store_frame(slug="orphan", what="posts", frame=FRAME)
    delete_unused_files(at=datetime.now(UTC))
    assert default_storage.exists(orphan)

    assert delete_unused_files(at=later()) >= 1
    assert not default_storage.exists(orphan)


def test_used_files_are_kept():
    collection = Collection.objects.create(slug="kept", loaded_at=NOW)
    collection.formulas_index = store_frame(slug="kept", what="formulas", frame=FRAME)
    collection.save()
    mapping = store_frame(slug="kept", what="mapping", frame=FRAME)
    VisualMap.objects.create(
        collection=collection, version=1, mapping=mapping, forms=mapping, made_at=NOW
    )
    delete_unused_files(at=later())

    assert default_storage.exists(str(collection.formulas_index))
    assert default_storage.exists(mapping)


def test_other_files_are_kept():
    name = default_storage.save("collections/notes.txt", ContentFile(b"keep"))
    delete_unused_files(at=later())

    assert default_storage.exists(name)


def test_the_task_deletes_only_old_files():
    orphan = store_frame(slug="fresh", what="posts", frame=FRAME)
    sweep_task()

    assert default_storage.exists(orphan)
