"""Files that are being uploaded, and requests that are too large for their page."""

import shutil
from collections import namedtuple
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from arqlab.core.files import kept
from arqlab.core.models import Job
from arqlab.jobs.tasks import run_waiting_jobs

LOAD = "/labs/arqmath-x/collection/load/"
RUNS = "/labs/arqmath-x/tasks/task1/runs/upload/"
Usage = namedtuple("Usage", "total used free")
BIG = b'<posts>\n<row Id="1" PostTypeId="1" Body="x" />\n</posts>\n' + b"<!-- -->" * 400_000


@pytest.fixture(autouse=True)
def incoming(settings, media: Path) -> Path:
    """Store files in a folder of the test, and allow requests of 2.9 MB."""
    settings.RUN_MAX_BYTES = 20_000
    return media / "incoming"


@pytest.fixture
def room(monkeypatch):
    """Return a function that sets how many bytes of the disk are free, beside the spare ones."""

    def room(free: int) -> None:
        usage = Usage(2**40, 0, 2**30 + free)
        monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)

    return room


def send(client, path=LOAD, **fields):
    files = {"dump": SimpleUploadedFile("Posts.xml", BIG)}
    return client.post(path, {"slug": "posts", "complete": "on", **files, **fields})


def test_a_file_of_a_load_is_moved_and_leaves_nothing_behind(scene, client_of, incoming):
    send(client_of(scene.organizer))

    load = Job.objects.get()
    path = Path(kept.path(load.files[0]["stored"]))
    assert path.read_bytes() == BIG
    assert (path.stat().st_mode & 0o777, path.stat().st_nlink) == (0o600, 1)
    assert load.files[0]["size"] == len(BIG)
    assert list(incoming.iterdir()) == []


def test_a_file_on_another_file_system_is_copied(scene, client_of, incoming, monkeypatch):
    def refuse(*args: object) -> None:
        raise OSError("Invalid cross-device link")

    monkeypatch.setattr("os.link", refuse)
    send(client_of(scene.organizer))
    run_waiting_jobs()

    assert Job.objects.get(kind="collection").state == "done"


def test_a_load_may_fill_the_room_on_the_server_but_not_more(scene, client_of, room, incoming):
    room(len(BIG) // 2)
    organizer = client_of(scene.organizer)
    organizer.raise_request_exception = False
    response = send(organizer)

    assert response.status_code == 507
    assert "The server has no room left to store this" in response.text
    assert not incoming.exists()
    assert not Job.objects.exists()


def test_the_pages_state_their_limits(scene, client_of, room):
    room(3 * 2**30)
    client = client_of(scene.organizer)
    page = client.get(LOAD).text

    assert "The server has room for files of 3.0\xa0GB." in page
    assert f'data-max-total-bytes="{3 * 2**30}"' in page
    page = client.get("/labs/arqmath-x/tasks/task1/load/qrels/").text
    assert "A file may have at most 19.5\xa0KB." in page
    assert 'data-max-bytes="20000"' in page


@pytest.mark.parametrize(
    ("role", "path", "status"),
    [
        ("organizer", RUNS, 413),
        ("organizer", "/labs/arqmath-x/edit/", 413),
        ("organizer", "/labs/arqmath-x/tasks/task1/load/topics/", 413),
        ("member", RUNS, 413),
        ("member", LOAD, 413),
        ("member", "/api/v1/labs/arqmath-x/tasks/task1/runs/", 413),
        ("visitor", "/accounts/login/", 413),
        ("visitor", LOAD, 302),
    ],
)
def test_other_requests_of_this_size_are_refused_unread(
    scene, client_of, incoming, role, path, status
):
    response = send(client_of(scene.people[role]), path, file=SimpleUploadedFile("a.tsv", BIG))

    assert response.status_code == status
    assert not incoming.exists()


def test_a_script_gets_the_refusal_as_json(scene, client_of):
    client = client_of(scene.member)
    file = SimpleUploadedFile("a.tsv", BIG + BIG)
    response = client.post(RUNS, {"file": file}, headers={"accept": "application/json"})

    assert response.status_code == 413
    assert "Send fewer or smaller files." in response.json()["message"]
