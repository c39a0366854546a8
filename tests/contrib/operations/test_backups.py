"""Everything is destroyed and restored from a backup that was made while the lab worked."""

import contextlib
import os
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import boto3
import psycopg2
import pytest
from pyrage import x25519

from arqlab.core.errors import UserError
from arqlab.core.services.schema import unknown_migrations
from contrib.operations.services.backups import delete_old_backups, make_backup
from tests.buckets import bucket_server
from tests.databases import UseDatabase
from tests.submissions.processes import MAKE_LAB, output_of

NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)
FACTS = """
import hashlib
from pathlib import Path
from django.conf import settings
from django.db import connection
from django.test.utils import setup_test_environment
from arqlab.core.files import kept
from assessment.models import Judgment
from submissions.models import Upload
setup_test_environment()
folder = Path(settings.DATA_DIR)

def tables():
    with connection.cursor() as cursor:
        rows = {}
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT * FROM "{table}"')
            rows[table] = sorted(map(repr, cursor.fetchall()))
    return rows

def files():
    found = {name: hashlib.sha256(kept.open(name).read()).hexdigest() for name in kept.names()}
    key = folder / "secret-key"
    return found | ({"key": key.read_text()} if key.exists() else {})

def appended():
    return {
        model.__name__: {str(row["id"]): repr(row) for row in model.objects.values()}
        for model in (Judgment, Upload)
    }
"""
WORK = """
import threading
from io import StringIO
from tests.assessment.factories import assign, make_pool
from tests.assessment.judging.desk import Desk
from tests.factories import make_lab
if not os.environ.get("ARQLAB_TEST_TEMPLATE"):
    call_command("migrate", verbosity=0)
scene = make_lab()
make_pool(scene.task, {"A.1": [str(post) for post in range(10, 999)]})
assign(scene.assessor, *scene.task.topics.all())
over = threading.Event()
labels, runs = threading.Semaphore(0), threading.Semaphore(0)

def judge():
    desk = Desk(scene.assessor)
    item = desk.next()
    while item and not over.is_set():
        item = desk.submit(item, 2, active_ms=0)["next"]
        labels.release()
    connection.close()

def upload():
    number = 0
    while not over.is_set():
        number += 1
        rows = b"".join(b"A.1\\t%d\\t%d\\t2.5\\tt\\n" % (n, n - 9) for n in range(10, 10 + number))
        run = ContentFile(rows, name=f"Alpha-task1-r{number}-auto-both-A.tsv")
        submit_upload(file=run, task=scene.task, team=scene.team, by=None, at=timezone.now())
        validate_uploaded_run(run_id=max(waiting_run_ids(at=timezone.now())), at=timezone.now())
        runs.release()
    connection.close()

def work_on():
    for done in (labels, runs, labels, runs):
        assert done.acquire(timeout=60)

def backup(name):
    call_command("backup", to=Path(archives, name), stdout=StringIO())
    [path] = Path(archives, name).iterdir()
    return str(path)

threads = [threading.Thread(target=judge), threading.Thread(target=upload)]
for thread in threads:
    thread.start()
work_on()
before = appended()
busy = backup("busy")
work_on()
over.set()
for thread in threads:
    thread.join()
print(json.dumps({
    "before": before, "after": appended(), "busy": busy,
    "tables": tables(), "files": files(), "calm": backup("calm"),
}))
"""
RESTORE = """
from io import StringIO
from django.core.management.base import CommandError

def restore(path, **options):
    call_command("restore", path, stdout=StringIO(), **options)

def refusal(command, *arguments, **options):
    try:
        call_command(command, *arguments, stdout=StringIO(), **options)
    except CommandError as refused:
        return str(refused)

restore(calm)
calm_again = {"tables": tables(), "files": files()}
filled = refusal("restore", busy)
restore(busy, replace=True)
wrong = [
    upload.pk for upload in Upload.objects.all()
    if hashlib.sha256(upload.file.open().read()).hexdigest() != upload.sha256
]
busy_again = appended()
kept.delete(Upload.objects.earliest("pk").file.name)
print(json.dumps({
    "calm": calm_again, "filled": filled, "busy": busy_again, "wrong": wrong,
    "lost": refusal("backup", to=archives / "lost"),
}))
"""


def destroy(data: Path) -> None:
    """Delete the database and all files."""
    if (data / "database").exists():
        with contextlib.closing(psycopg2.connect((data / "database").read_text())) as connected:
            connected.autocommit = True
            connected.cursor().execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    for path in data.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name != "database":
            path.unlink()
    if bucket := os.environ.get("ARQLAB_S3_BUCKET"):
        boto3.resource("s3").Bucket(bucket).objects.delete()


@pytest.fixture(scope="module", params=["disk", "bucket"])
def worked_and_restored(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    use_tested_database: UseDatabase,
) -> Iterator[tuple[Any, Any]]:
    """Yield what was there while and after the lab worked, and what was restored of it."""
    with bucket_server() if request.param == "bucket" else contextlib.nullcontext():
        yield work_and_restore(tmp_path_factory, use_tested_database)


def work_and_restore(
    tmp_path_factory: pytest.TempPathFactory, use_tested_database: UseDatabase
) -> tuple[Any, Any]:
    """Let a lab work and make backups, destroy everything, and restore them."""
    data, archives = tmp_path_factory.mktemp("data"), tmp_path_factory.mktemp("archives")
    use_tested_database(data)
    place = f"from pathlib import Path\narchives = Path({str(archives)!r})"
    worked = output_of(data, place, FACTS, WORK)
    destroy(data)
    paths = f"calm, busy = {worked['calm']!r}, {worked['busy']!r}"
    return worked, output_of(data, place, FACTS, paths, RESTORE)


def test_every_row_and_every_byte_is_restored(worked_and_restored: tuple[Any, Any]) -> None:
    worked, restored = worked_and_restored

    assert worked["tables"]["submissions_run"]
    assert worked["tables"]["assessment_judgment"]
    assert restored["calm"]["tables"] == worked["tables"]
    assert restored["calm"]["files"] == worked["files"]


def test_a_backup_during_work_has_all_that_was_acknowledged_before_it(
    worked_and_restored: tuple[Any, Any],
) -> None:
    worked, restored = worked_and_restored

    for model, rows in restored["busy"].items():
        assert worked["before"][model].items() <= rows.items() <= worked["after"][model].items()
        assert len(worked["before"][model]) < len(worked["after"][model])


def test_a_backup_during_work_has_every_file_that_its_database_names(
    worked_and_restored: tuple[Any, Any],
) -> None:
    assert worked_and_restored[1]["wrong"] == []


def test_a_filled_place_is_replaced_only_on_request(worked_and_restored: tuple[Any, Any]) -> None:
    assert "add --replace" in worked_and_restored[1]["filled"]


def test_a_file_that_was_lost_fails_the_backup(worked_and_restored: tuple[Any, Any]) -> None:
    assert "1 files that the database names were lost" in worked_and_restored[1]["lost"]


def test_the_migrations_of_a_newer_version_are_unknown() -> None:
    assert unknown_migrations(["core.0001_initial", "core.9999_later"]) == ["core.9999_later"]


def test_archives_are_deleted_after_their_days(tmp_path: Path) -> None:
    names = [f"arqlab-202611{day}T120000Z.tar.gz" for day in (18, 19, 26)]
    for name in (*names, "other.tar.gz"):
        (tmp_path / name).touch()

    assert delete_old_backups(folder=tmp_path, days=7, at=NOW) == [tmp_path / names[0]]
    assert sorted(path.name for path in tmp_path.iterdir()) == [*names[1:], "other.tar.gz"]


def test_a_key_that_is_not_one_of_age_makes_no_backup(settings: Any, tmp_path: Path) -> None:
    settings.BACKUP_KEY = "secret"

    with pytest.raises(UserError, match="not a public key of age"):
        make_backup(folder=tmp_path, at=NOW)
    assert [*tmp_path.iterdir()] == []


ENCRYPTION = """
from django.conf import settings
from io import StringIO

def warned(key):
    settings.BACKUP_KEY, errors = key, StringIO()
    call_command("backup", to=archives / (key or "plain"), stdout=StringIO(), stderr=errors)
    return errors.getvalue()

print(json.dumps([warned(""), warned(""), warned(public)]))
"""


def test_each_backup_without_a_key_says_that_it_is_not_encrypted(
    tmp_path: Path, use_tested_database: UseDatabase
) -> None:
    data, archives = tmp_path / "data", tmp_path / "archives"
    data.mkdir()
    use_tested_database(data)
    public = str(x25519.Identity.generate().to_public())
    place = f"from pathlib import Path\narchives, public = Path({str(archives)!r}), {public!r}"

    first, second, encrypted = output_of(data, place, MAKE_LAB, ENCRYPTION)

    assert first == second
    assert "It is not encrypted" in first
    assert encrypted == ""


STRANGE = """
from io import StringIO
from pathlib import Path
from django.core.management.base import CommandError
from django.db import connection
from arqlab.core.models import User

if not os.environ.get("ARQLAB_TEST_TEMPLATE"):
    call_command("migrate", verbosity=0)
with connection.cursor() as cursor:
    cursor.execute("ALTER TABLE core_lab DROP COLUMN description")
archives = Path(os.environ["ARQLAB_DATA"], "archives")
call_command("backup", to=archives, stdout=StringIO())
User.objects.create_user("later")
[archive] = archives.iterdir()
try:
    call_command("restore", archive, replace=True, stdout=StringIO())
except CommandError as refused:
    print(json.dumps([str(refused), User.objects.filter(username="later").exists()]))
"""


def test_a_backup_with_a_strange_schema_replaces_nothing(tmp_path, use_tested_database) -> None:
    use_tested_database(tmp_path)
    refusal, is_there = output_of(tmp_path, STRANGE)

    assert "column core_lab.description is missing" in refusal
    assert is_there


FORGED = """
import hashlib
from io import StringIO
from pathlib import Path
from django.core.management.base import CommandError
from django.db import connection
from arqlab.core.models import User
from contrib.operations.services.backup_archives import ArchiveWriter, new_archive

if not os.environ.get("ARQLAB_TEST_TEMPLATE"):
    call_command("migrate", verbosity=0)
User.objects.create_user("earlier")
folder = Path(os.environ["ARQLAB_DATA"])
file = folder / "file"
file.write_bytes(b"no database at all")

def refusal(*members):
    path = folder / "-".join(["archive", *members]).replace("/", "-")
    with new_archive(path, []) as out:
        archive = ArchiveWriter(out, {"database": connection.vendor})
        for member in members:
            archive.add(member, file)
        archive.close({"lost": [], "migrations": []})
    try:
        call_command("restore", path, replace=True, stdout=StringIO())
    except CommandError as refused:
        return str(refused)

refusals = [refusal("files/a/b"), refusal("database/a"), refusal("database")]
print(json.dumps([refusals, User.objects.filter(username="earlier").exists()]))
"""


def test_an_archive_without_a_database_replaces_nothing(tmp_path, use_tested_database) -> None:
    use_tested_database(tmp_path)
    (missing, folder, garbage), is_there = output_of(tmp_path, FORGED)

    assert "it has no database" in missing
    assert "it has no database" in folder
    assert "damaged" in garbage or "pg_restore failed" in garbage
    assert is_there
