"""An archive that is uploaded is recognized: it is restored on a page, or loaded as a folder."""

import hashlib
import io
import json
import zipfile
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from arqlab.core.models import AuditEvent, Job, Lab
from desk.services.demo import FOLDER
from submissions.models import Run
from tests.desk.views.test_loads import creator, file, post
from tests.factories import UserFactory
from tests.outside import NAMES, tar_with, zip_of

__all__ = ["creator", "post"]
DEMO = (FOLDER / "demo.zip").read_bytes()


@pytest.fixture(autouse=True)
def folders(settings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.DATA_DIR = tmp_path


@pytest.fixture
def administrator(db: None):
    return UserFactory(username="administrator", is_superuser=True, is_staff=True)


def changed(**texts: str | None) -> bytes:
    """Return the archive with other files, sealed again; None removes one."""
    with zipfile.ZipFile(io.BytesIO(DEMO)) as archive:
        top = archive.namelist()[0].partition("/")[0]
        files = {name: archive.read(name) for name in archive.namelist() if name[-1] != "/"}
    for name, text in texts.items():
        path = f"{top}/data/{name}"
        files.pop(path, None)
        if text is not None:
            files[path] = text.encode()
    data = [name for name in files if name.startswith(f"{top}/data/")]
    lines = (
        f"{hashlib.sha256(files[name]).hexdigest()}  {name.partition('/')[2]}\n" for name in data
    )
    files[f"{top}/manifest-sha256.txt"] = "".join(lines).encode()
    return zip_of(files.items())


def rows_of(table: str) -> list[dict]:
    """Return the rows of a table of the archive."""
    with zipfile.ZipFile(io.BytesIO(DEMO)) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(f"tables/{table}.jsonl")]
        return list(map(json.loads, archive.read(name).splitlines()))


def table_with(table: str, **cells: object) -> str:
    """Return a table of the archive with other cells in its first row."""
    first, *others = rows_of(table)
    return "".join(f"{json.dumps(row)}\n" for row in [first | cells, *others])


TABLES = "tables/core.task.jsonl", "tables/submissions.upload.jsonl"
DAMAGED = {
    "no archive": b"no archive",
    "no bag": zip_of([("demo/lab.toml", b"[lab]")]),
    "published": changed(**{"tables/columns.json": None}),
    "newer": changed(**{"tables/columns.json": '{"core.lab": {"motto": "Char"}}'}),
    "deep": changed(**{"tables/columns.json": "[" * 100_000}),
    "no object": changed(**{"tables/columns.json": "7"}),
    "a missing row": changed(**{TABLES[0]: table_with("core.task", lab=99)}),
    "another value": changed(**{TABLES[0]: table_with("core.task", position="many")}),
    "a file outside": changed(
        **{TABLES[1]: table_with("submissions.upload", file="../../../secret.txt")}
    ),
    "a file by its path": changed(
        **{TABLES[1]: table_with("submissions.upload", file="/etc/passwd")}
    ),
    "a link": tar_with(b"2", "/etc/passwd"),
    **{
        f"the name {name[:20]!a}": zip_of([(f"demo/{name}", b"x")])
        for name in NAMES
        if name and not name.startswith("/") and name.isprintable() and "missing" not in name
    },
}


def test_an_archive_is_not_loaded_as_a_folder_unless_that_is_meant(administrator, post):
    load = post(administrator, "/load-lab/", file=[file("demo.zip", DEMO)])

    assert load.state == Job.State.REFUSED
    assert "This is the archive of a whole lab" in load.message
    assert not Lab.objects.exists()

    again = post(administrator, f"/loads/{load.pk}/repeat/", archive="folder")

    assert again.state == Job.State.DONE, again.message
    assert Lab.objects.get().tasks.exists()
    assert not Run.objects.exists()


def test_a_lab_is_restored_on_a_page(administrator, post, client_of):
    load = post(administrator, "/restore-lab/", file=file("demo.zip", DEMO))

    lab = Lab.objects.get()
    page = client_of(administrator).get(f"/loads/{load.pk}/").content.decode()
    assert (load.state, load.lab) == (Job.State.DONE, lab)
    assert Run.objects.exists()
    assert f'href="/labs/{lab.slug}/"' in page
    assert AuditEvent.objects.get(verb="lab.restore").actor == administrator


def test_only_administrators_restore(creator, client_of):
    client = client_of(creator)

    assert client.get("/restore-lab/").status_code == 403
    assert client.post("/restore-lab/", {"file": file("demo.zip", DEMO)}).status_code == 403
    assert not Job.objects.exists()
    assert client.get("/load-lab/").status_code == 200


@pytest.mark.parametrize("kind", DAMAGED)
def test_the_page_refuses_what_the_command_refuses_with_its_sentence(
    administrator, post, tmp_path, kind
):
    path = tmp_path / "demo.zip"
    path.write_bytes(DAMAGED[kind])
    with pytest.raises(CommandError) as refused:
        call_command("restore_archive", path, stdout=StringIO())

    load = post(administrator, "/restore-lab/", file=file("demo.zip", DAMAGED[kind]))

    assert load.state == Job.State.REFUSED, load.message
    assert load.message == str(refused.value).replace(str(path), "demo.zip")
    assert "root:x:0" not in load.message
    assert str(tmp_path) not in load.message
    assert not Lab.objects.exists()


def test_a_lab_that_is_here_is_not_restored_again(administrator, post):
    post(administrator, "/restore-lab/", file=file("demo.zip", DEMO))

    load = post(administrator, "/restore-lab/", file=file("demo.zip", DEMO))

    assert load.state == Job.State.REFUSED
    assert "There is a lab 'demo' here already" in load.message
