"""With files in a bucket, every door does what it does with files on a disk."""

import re
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.files.base import ContentFile
from django.test import Client
from django.utils import timezone

from arqlab.core.files import kept
from arqlab.core.models import Job, User
from arqlab.environment import file_storage
from arqlab.jobs.tasks import run_waiting_jobs
from arqlab.server.services.health import check_storage
from desk.services.load_files import sweep_files
from submissions.models import Run
from submissions.selectors import run_index
from submissions.services.uploads import submit_upload
from submissions.services.validation import validate_uploaded_run
from tests.buckets import bucket_server
from tests.desk.views.test_loads import FILES, LAB, file, zipped
from tests.factories import Scene

TASK = "/labs/arqmath-x/tasks/task1/"
ROWS = b"A.1\t10\t1\t2.5\tours\nA.1\t11\t2\t1.5\tours\n"


@pytest.fixture(scope="module")
def server() -> Iterator[dict[str, str]]:
    with bucket_server() as variables:
        yield variables


@pytest.fixture(params=["disk", "bucket"])
def store(
    request: pytest.FixtureRequest, media: Path, settings: Any, server: dict[str, str]
) -> str:
    """Keep files on a disk, or in a bucket."""
    if request.param == "bucket":
        settings.S3_BUCKET = server["ARQLAB_S3_BUCKET"]
        backend = {"BACKEND": "arqlab.core.buckets.BucketStorage"}
        settings.STORAGES = settings.STORAGES | {"default": backend}
        kept.delete_folder("")
    return str(request.param)


def submitted(scene: Scene) -> Run:
    run = ContentFile(ROWS, name="Alpha-task1-ours-auto-both-A.tsv")
    at = timezone.now()
    [made] = submit_upload(file=run, task=scene.task, team=scene.team, by=scene.member, at=at)
    validate_uploaded_run(run_id=made.pk, at=at)
    made.refresh_from_db()
    return made


def test_a_run_is_checked_read_and_downloaded(
    store: str, scene: Scene, client_of: Callable[[User], Client]
) -> None:
    run = submitted(scene)

    assert (run.status, run.upload.sha256) == ("valid", sha256(ROWS).hexdigest())
    assert run_index(run, columns=["item"])["item"].to_list() == ["10", "11"]
    page = f"{TASK}runs/{run.pk}/file/"
    assert b"".join(client_of(scene.member).get(page)) == ROWS
    assert len(list(kept.names())) == 3


def test_what_an_organizer_loads_is_read_again_and_replaced_files_are_put_aside(
    store: str, scene: Scene, client_of: Callable[[User], Client]
) -> None:
    organizer = client_of(scene.superuser)
    sent = {"file": file("tiny.zip", zipped({"lab.toml": LAB}))}
    load = organizer.post("/load-lab/", sent).url
    run_waiting_jobs()
    assert Job.objects.get().state == "refused"  # its other files are missing
    [before] = kept.names("loads")
    organizer.post(f"{load}repeat/", {"file": file("tiny.zip", zipped(FILES))})
    run_waiting_jobs()

    assert Job.objects.get().state == "done"
    at = timezone.now() + timedelta(days=2)
    assert sweep_files(at=at) == 1
    [aside] = kept.names("unused")
    assert aside == f"unused/{at.date()}/{before}"
    sweep_files(at=at + timedelta(days=31))
    assert not list(kept.names("unused"))


def test_two_files_of_one_name_are_kept_and_both_stay_as_they_were(store: str) -> None:
    names = [kept.save("uploads/run.tsv", ContentFile(data)) for data in (b"one", b"two")]

    for name, data in zip(names, (b"one", b"two"), strict=True):
        with kept.open(name) as file:
            assert file.read() == data
    assert [re.sub("_.{12}", "", name) for name in names] == ["uploads/run.tsv"] * 2


def test_a_storage_that_fails_is_a_fault_of_the_server(store: str, settings: Any) -> None:
    assert check_storage() is None
    if store == "disk":
        return
    settings.S3_BUCKET = "another"
    settings.STORAGES = dict(settings.STORAGES)
    fault = check_storage()

    assert fault
    assert "the bucket another" in fault.found
    with pytest.raises(OSError, match="another"):
        kept.save("uploads/run.tsv", ContentFile(b"one"))


def test_without_its_packages_a_bucket_is_refused_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.delitem(sys.modules, "storages", raising=False)
    monkeypatch.delitem(sys.modules, "boto3", raising=False)
    sys.path_importer_cache.clear()

    with pytest.raises(ImproperlyConfigured, match="Run `bin/setup --extras`"):
        file_storage("lab")
