"""An import has one process at a time and notices when another takes over."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection, transaction
from django.utils import timezone

from collection.models import STALE_AFTER, Collection, Import
from collection.services.importing.import_records import (
    TakenOverError,
    file_digest,
    finish_import,
    save_progress,
    start_import,
    stopped_on_error,
)

pytestmark = pytest.mark.django_db


def started() -> Import:
    collection, _ = Collection.objects.get_or_create(
        slug="small", defaults={"loaded_at": timezone.now()}
    )
    return start_import(
        collection=collection, kind="posts", source="Posts.xml", sha256="1", at=timezone.now()
    )


def silent(record: Import) -> None:
    Import.objects.filter(pk=record.pk).update(updated_at=timezone.now() - 2 * STALE_AFTER)


def test_a_stale_process_that_wakes_up_writes_nothing() -> None:
    first = started()
    silent(first)
    second = started()
    second.rows = 7
    save_progress(record=second, at=timezone.now())

    first.rows = 5
    with pytest.raises(TakenOverError, match="took over"), stopped_on_error(first):
        save_progress(record=first, at=timezone.now())
    assert Import.objects.values_list("rows", "state").get() == (7, "running")


@pytest.mark.django_db(transaction=True)
def test_ctrl_c_while_a_transaction_begins_stops_the_import() -> None:
    def interrupted() -> None:
        with stopped_on_error(started()):
            transaction.atomic().__enter__()  # its end is never reached
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()

    assert not connection.in_atomic_block
    connection.close()  # what was not committed is lost
    assert Import.objects.values_list("state", flat=True).get() == "stopped"


def test_a_deleted_import_is_not_recreated() -> None:
    record = started()
    Import.objects.all().delete()

    with pytest.raises(TakenOverError):
        finish_import(record=record, at=timezone.now() + timedelta(seconds=1))
    assert not Import.objects.exists()


def test_the_digest_of_a_folder_includes_the_files_in_its_subfolders(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "1.tsv").write_text("a")
    before = file_digest(tmp_path)
    (tmp_path / "below" / "1.tsv").write_text("b")

    assert file_digest(tmp_path) != before
