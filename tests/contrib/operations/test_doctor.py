"""The doctor names each fault of a server that has one, and nothing on one that works."""

import io
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.utils import timezone

from arqlab.core.files import kept
from arqlab.core.models import AuditEvent, Job
from arqlab.jobs.services.jobs import start_job
from arqlab.notices.models import Mail
from arqlab.server.tasks import beat
from collection.models import Collection
from contrib.operations.services.backups import LAST_BACKUP
from desk.services.load_files import store_files
from submissions.models import Run
from submissions.services.uploads import submit_upload
from submissions.services.validation import validate_uploaded_run
from tests.factories import Scene

LONG_AGO = timezone.now() - timedelta(days=3)


@pytest.fixture
def works(scene: Scene, media: Path) -> Scene:
    """A lab with a run and a load, on a server that works and keeps its files in a folder."""
    media.mkdir(mode=0o700)
    file = ContentFile(b"A.1\t10\t1\t2.5\tours\n", name="Alpha-task1-r-auto-both-P.tsv")
    [run] = submit_upload(file=file, task=scene.task, team=scene.team, by=None, at=timezone.now())
    validate_uploaded_run(run_id=run.pk, at=timezone.now())
    uploads = {"topics": [SimpleUploadedFile("topics.xml", b"<Topics/>")]}
    start_job(
        job=Job(kind="topics"),
        place=scene.task,
        at=timezone.now(),
        by=scene.organizer,
        store=lambda job: store_files(job, uploads),
    )
    beat()
    cache.set(LAST_BACKUP, timezone.now(), timeout=None)
    return scene


def found() -> str:
    """Return what the doctor prints."""
    with io.StringIO() as out:
        try:
            call_command("doctor", stdout=out)
        except CommandError as error:
            out.write(str(error))
        return out.getvalue()


def run_file() -> Path:
    return Path(Run.objects.get().upload.file.path)


def failed_mail(scene: Scene) -> None:
    now = timezone.now()
    known = {"lab": scene.lab, "due_at": now, "changed_at": now}
    Mail.objects.create(state="failed", error="550 unknown", **known)


def mail_server_that_is_away(scene: Scene, settings: Any) -> None:
    settings.SENDS_MAIL = True
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1


FAULTS: dict[str, Callable[..., object]] = {
    "settings: ARQLAB_HTTPS is 1, but ARQLAB_PROXIES is 0": (
        lambda _, settings: setattr(settings, "HTTPS", True)
    ),
    "workers: No scheduled task has run yet.": lambda *_: cache.delete("heartbeat"),
    "folders: Other users can read": lambda _, settings: settings.MEDIA_ROOT.chmod(0o755),
    "clock: It is": lambda *_: AuditEvent.objects.update(at=timezone.now() + timedelta(hours=1)),
    "queues: Waiting runs: 1.": (
        lambda *_: Run.objects.update(status="validating", status_changed_at=LONG_AGO)
    ),
    "queues: Waiting jobs: 1.": lambda *_: Job.objects.update(updated_at=LONG_AGO),
    "queues: The search indexes are out of date: posts": (
        lambda *_: Collection.objects.create(slug="posts", loaded_at=LONG_AGO)
    ),
    "failures: Job": lambda *_: Job.objects.update(state="failed"),
    "failures: Failed emails: 1, the last with: 550 unknown": lambda scene, _: failed_mail(scene),
    "mail: The mail server does not take mail": mail_server_that_is_away,
    "files: Files that the database names are missing (1): uploads/": lambda *_: (
        run_file().unlink()
    ),
    "files: Files are empty (1)": lambda *_: run_file().write_bytes(b""),
    "files: Runs are not as they were sent (1)": lambda *_: run_file().write_bytes(b"another"),
    "files: Files of loads are missing or have another size": (
        lambda *_: kept.delete(Job.objects.get().files[0]["stored"])
    ),
    "backups: No backup was made since": lambda *_: cache.set(LAST_BACKUP, LONG_AGO),
}


def test_nothing_is_wrong_with_a_server_that_works(works: Scene) -> None:
    assert found() == "Nothing is wrong.\n"


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named_with_what_to_do(works: Scene, settings: Any, fault: str) -> None:
    FAULTS[fault](works, settings)

    lines = found().split("\n")

    place = next(number for number, line in enumerate(lines) if line.startswith(fault))
    assert lines[place + 1].startswith("    ")
    assert lines[-1].endswith("found.")
