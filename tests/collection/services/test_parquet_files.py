"""Columns beside the database: nothing that a row names is removed, nothing that none names stays."""

from __future__ import annotations

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


def test_the_name_tells_the_content():
    names = [
        store_frame(slug="named", what="posts", frame=frame) for frame in (FRAME, FRAME.clear())
    ]

    assert len({name.split("-")[2][:12] for name in names}) == 2
    assert all(name.startswith("collections/named-posts-") for name in names)


def test_a_file_that_no_row_names_is_swept_when_it_is_old():
    orphan = store_frame(slug="orphan", what="posts", frame=FRAME)
    delete_unused_files(at=datetime.now(UTC))
    assert default_storage.exists(orphan)

    assert delete_unused_files(at=later()) >= 1
    assert not default_storage.exists(orphan)


def test_files_that_rows_name_stay():
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


def test_what_is_no_column_file_is_left_alone():
    name = default_storage.save("collections/notes.txt", ContentFile(b"keep"))
    delete_unused_files(at=later())

    assert default_storage.exists(name)


def test_the_task_sweeps_only_what_is_old():
    orphan = store_frame(slug="fresh", what="posts", frame=FRAME)
    sweep_task()

    assert default_storage.exists(orphan)
