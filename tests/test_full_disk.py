"""A disk that is really full: a tmpfs of one megabyte holds the files."""

from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError, connection, connections
from django.db.backends.sqlite3.base import DatabaseWrapper as Sqlite
from django.test import Client

from arqlab.core import selectors
from arqlab.core.faults import is_disk_full
from arqlab.core.files import DurableStorage
from arqlab.server.services.health import check_disk
from arqlab.settings import ACCOUNT_RATE_LIMITS
from submissions.models import Upload
from tests.core.views.test_error_pages import says
from tests.factories import PASSWORD, Scene, UserFactory
from tests.faults.site import disk_at

UPLOAD = "/labs/arqmath-x/tasks/task1/runs/upload/"
API = "/api/v1/labs/arqmath-x/tasks/task1/runs/"
BIG = b"A.1\t10\t1\t2.5\tours\n" * 80_000
DISK_FULL = "The server has no room left to store this, so nothing was saved."
ASK = "Tell an organizer, and try again when they have made room. Pages still open as usual."


@pytest.fixture
def disk(settings, tmp_path: Path) -> Iterator[Path]:
    """A disk of a megabyte."""
    settings.MEDIA_ROOT = tmp_path
    backend = {"BACKEND": "arqlab.core.files.DurableStorage"}
    settings.STORAGES = settings.STORAGES | {"default": backend}
    with disk_at(tmp_path, "1m") as is_there:
        if not is_there:
            pytest.skip("Only root can mount a small disk.")
        yield tmp_path


def files_on(disk: Path) -> list[Path]:
    return [path for path in disk.rglob("*") if path.is_file()]


def test_a_file_that_does_not_fit_leaves_nothing_behind(disk: Path) -> None:
    with pytest.raises(OSError, match="No space left on device"):
        DurableStorage().save("uploads/run.tsv", ContentFile(BIG))

    assert files_on(disk) == []
    DurableStorage().save("uploads/run.tsv", ContentFile(b"small"))


def test_a_database_without_room_is_a_full_disk_and_keeps_what_it_has(db: None, disk: Path) -> None:
    usual = connections["default"].settings_dict
    with closing(Sqlite(usual | {"NAME": disk / "a.sqlite3", "OPTIONS": {}})) as full:
        full.cursor().execute("CREATE TABLE one (text)")
        full.cursor().execute("INSERT INTO one VALUES ('kept')")
        with pytest.raises(OperationalError) as caught:
            full.cursor().execute("INSERT INTO one VALUES (%s)", ["x" * 2**20])

        assert is_disk_full(caught.value)
        assert full.cursor().execute("SELECT text FROM one").fetchall() == [("kept",)]


@pytest.mark.parametrize("spare", [2**30, -(2**30)], ids=["kept free", "used up"])
def test_pages_and_the_api_say_that_the_disk_is_full_and_readiness_does(
    scene: Scene, client_of, disk: Path, monkeypatch, spare: int
) -> None:
    monkeypatch.setattr(selectors, "SPARE", spare)  # below 0, only the disk itself refuses
    client: Client = client_of(scene.member)
    client.raise_request_exception = False

    def send(address: str, **fields: int):
        file = SimpleUploadedFile("Alpha-task1-x-auto-both-A.tsv", BIG)
        return client.post(address, {"file": file, **fields})

    page, program = send(UPLOAD, team=scene.team.pk), send(API)

    assert says(page, "The disk is full", DISK_FULL, ASK)
    assert (program.status_code, program.json()["message"]) == (507, f"{DISK_FULL} {ASK}")
    assert int(page["Retry-After"]) > 0
    assert (check_disk() is None) == (spare < 0)
    assert not Upload.objects.exists()
    assert files_on(disk) == []
    assert client.get(UPLOAD).status_code == 200


@pytest.fixture
def full_database(transactional_db: None) -> Iterator[None]:
    """A database without room for another row of attempts. PostgreSQL has no limit of pages."""
    UserFactory(username="someone", email="someone@example.org")
    with connection.cursor() as cursor:
        [pages] = cursor.execute("PRAGMA page_count").fetchone()
        cursor.execute(f"PRAGMA max_page_count = {pages}")
        # A row may still fit on one page and not on another, so there are many tries.
        for number in range(5_000):
            key = f":1:allauth:rl:allauth.account:login{number * 7919 % 1000}:{number}"
            with suppress(OperationalError):
                row = [key, "x" * (4_000 if number < 2_000 else 1), "2099-01-01"]
                cursor.execute("INSERT INTO core_attempts VALUES (%s, %s, %s)", row)
        yield
        cursor.execute("PRAGMA max_page_count = 1073741823")
        cursor.execute("DELETE FROM core_attempts")


@pytest.mark.once
def test_a_right_password_is_not_too_many_attempts_on_a_full_disk(
    full_database, client, settings
) -> None:
    settings.ACCOUNT_RATE_LIMITS = ACCOUNT_RATE_LIMITS
    client.raise_request_exception = False

    page = client.post("/accounts/login/", {"login": "someone", "password": PASSWORD})

    assert says(page, "The disk is full", DISK_FULL, ASK)
    assert page.status_code == 507
