"""Files that no row refers to are put aside, then deleted; all others are kept."""

import os
import re
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from arqlab.core.models import Job
from arqlab.jobs.services.jobs import repeat_job, start_job
from arqlab.jobs.tasks import run_waiting_jobs
from desk.services.load_files import load_folder, store_files, sweep_files
from desk.tasks import sweep_unused_files
from submissions.models import Run
from submissions.services.uploads import check_upload, submit_upload
from submissions.services.validation import validate_uploaded_run
from tests.desk.views.test_loads import LAB, zipped

LATER = timedelta(days=2)
RUN = b"A.1\t10\t1\t2.5\tours\n"


def files_in(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def put(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(RUN)
    return path


def send_runs(scene) -> None:
    """Submit a valid and an invalid run, withdraw the valid one, and check a third one."""
    for tag, data in (("good", RUN), ("bad", b"no run")):
        file = ContentFile(data, name=f"Alpha-task1-{tag}-auto-both-A.tsv")
        at = timezone.now()
        submit_upload(file=file, task=scene.task, team=scene.team, by=scene.member, at=at)
    file = ContentFile(RUN, name="Alpha-task1-try-auto-both-A.tsv")
    check_upload(file=file, task=scene.task, team=scene.team, by=scene.member, at=timezone.now())
    for run in Run.objects.all():
        validate_uploaded_run(run_id=run.pk, at=timezone.now())
    Run.objects.filter(tag="good").update(withdrawn_at=timezone.now())


def refused_load(scene) -> Job:
    """Return a refused load of a lab, whose archive was unpacked."""
    sent = {"file": [SimpleUploadedFile("tiny.zip", zipped({"lab.toml": LAB}))]}
    load = start_job(
        job=Job(kind="lab"),
        place=None,
        at=timezone.now(),
        by=scene.organizer,
        store=partial(store_files, uploads=sent),
    )
    run_waiting_jobs()
    load.refresh_from_db()
    return load


def test_files_of_runs_are_kept(scene, media):
    send_runs(scene)
    before = files_in(media)

    assert sweep_files(at=timezone.now() + LATER) == 0
    assert len(before) == 3 + 1 + 1 + 3  # uploads, indexes of the valid ones, reports
    assert files_in(media) == before


@pytest.mark.parametrize("folder", ["uploads/2026/11", "indexes/2026/11", "reports/2026/11"])
def test_a_file_without_a_row_is_put_aside_and_deleted_after_30_days(db, media, folder):
    put(media / folder / "left.tsv")
    at = timezone.now() + LATER

    assert sweep_files(at=at) == 1
    assert files_in(media) == {f"unused/{at.date()}/{folder}/left.tsv"}
    sweep_files(at=at + timedelta(days=30))
    assert len(files_in(media)) == 1
    sweep_files(at=at + timedelta(days=31))
    assert not files_in(media)


def test_a_young_file_is_kept_because_its_row_may_not_be_stored_yet(db, media):
    put(media / "uploads/2026/11/new.tsv")

    assert sweep_files(at=timezone.now() + timedelta(hours=23)) == 0


def test_the_files_of_a_refused_load_are_kept_but_not_its_unpacked_copy(scene, media):
    load = refused_load(scene)
    assert load.state == Job.State.REFUSED
    before = files_in(media)
    assert [re.sub("_[^.]*", "", path) for path in before] == [f"{load_folder(load)}/tiny.zip"]

    assert sweep_files(at=timezone.now() + LATER) == 0
    assert files_in(media) == before


def test_a_file_of_a_load_that_was_replaced_is_put_aside(scene, media):
    load, at = refused_load(scene), timezone.now() + LATER
    [before] = files_in(media)
    sent = {"file": [SimpleUploadedFile("tiny.zip", RUN)]}
    repeat_job(
        job=load, options={}, at=at, by=scene.organizer, store=partial(store_files, uploads=sent)
    )

    assert sweep_files(at=at) == 1
    assert f"unused/{at.date()}/{before}" in files_in(media)


def test_the_folder_of_a_load_that_was_never_stored_is_put_aside(db, media):
    put(media / "loads/0123/sent/file/Posts.xml")
    at = timezone.now() + LATER

    sweep_files(at=at)

    assert files_in(media) == {f"unused/{at.date()}/loads/0123/sent/file/Posts.xml"}


def test_the_beginning_of_a_file_whose_upload_was_interrupted_is_deleted(db, media):
    put(media / "incoming/tmp1.upload.xml")

    sweep_files(at=timezone.now() + timedelta(hours=23))
    assert files_in(media) == {"incoming/tmp1.upload.xml"}
    sweep_files(at=timezone.now() + LATER)
    assert not files_in(media)


def test_other_folders_are_left_alone(db, media):
    paths = {"unused/notes/a.txt", "collections/mse.parquet", "loads/readme.txt", "mine/a.txt"}
    for path in paths:
        put(media / path)

    sweep_files(at=timezone.now() + timedelta(days=400))

    assert files_in(media) == paths


def test_the_scheduled_task_sweeps(db, media):
    left = put(media / "uploads/2026/11/left.tsv")
    long_ago = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
    os.utime(left, (long_ago, long_ago))

    sweep_unused_files()

    assert not left.exists()


def test_a_server_without_files_has_nothing_to_sweep(db, media):
    assert sweep_files(at=timezone.now()) == 0
