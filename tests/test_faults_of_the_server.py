"""A fault of the server makes no run invalid and no job fail: the work is done when it is over."""

from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.utils import timezone

from arqlab.core.faults import PAUSES, attempt_due_at
from arqlab.core.models import Job
from arqlab.jobs.services.jobs import run_waiting_job
from arqlab.jobs.tasks import run_waiting_jobs
from arqlab.notices.models import Notice
from submissions.models import Run
from submissions.services.uploads import submit_upload
from submissions.services.validation import validate_uploaded_run
from submissions.tasks import validate_waiting_runs
from tests.desk.services.test_sweeping import RUN
from tests.desk.views.test_loads import TASK, TOPICS, file
from tests.factories import Scene

PAGE = "/labs/arqmath-x/tasks/task1/runs/{}/"


@pytest.fixture
def run(scene: Scene, media: Path) -> Run:
    """A submitted run in a real folder."""
    sent = ContentFile(RUN, name="Alpha-task1-good-auto-both-A.tsv")
    now = timezone.now()
    return submit_upload(file=sent, task=scene.task, team=scene.team, by=scene.member, at=now)[0]


def fail(run: Run, times: int) -> None:
    """Check a run as often as it is due; each check fails."""
    at = run.status_changed_at
    for attempt in range(times):
        with pytest.raises(FileNotFoundError):
            validate_uploaded_run(run_id=run.pk, at=attempt_due_at(attempt, at))
        run.refresh_from_db()
        at = run.status_changed_at


def test_a_run_waits_while_the_storage_is_gone_and_is_valid_when_it_is_back(
    run: Run, scene: Scene, media: Path, client_of, django_capture_on_commit_callbacks
) -> None:
    (media / "uploads").rename(media / "elsewhere")
    fail(run, times=5)
    page = client_of(scene.organizer).get(PAGE.format(run.pk)).text
    (media / "elsewhere").rename(media / "uploads")
    with django_capture_on_commit_callbacks(execute=True):
        client_of(scene.organizer).post(PAGE.format(run.pk) + "retry/")

    assert "The server could not check this file yet." in page
    assert "Retry now" in page
    run.refresh_from_db()
    assert (run.status, run.attempts) == ("valid", 1)


def test_the_sweep_checks_a_run_again_when_it_is_due(run: Run, media: Path) -> None:
    (media / "uploads").rename(media / "elsewhere")
    fail(run, times=1)
    (media / "elsewhere").rename(media / "uploads")

    validate_waiting_runs()
    run.refresh_from_db()
    assert run.status == "uploaded"
    Run.objects.update(status_changed_at=timezone.now() - PAUSES[0])
    validate_waiting_runs()
    run.refresh_from_db()
    assert run.status == "valid"


def test_organizers_are_notified_once_a_day_and_a_fault_of_seconds_disturbs_nobody(
    run: Run, scene: Scene, media: Path
) -> None:
    (media / "uploads").rename(media / "elsewhere")
    fail(run, times=2)
    assert not Notice.objects.exists()

    fail(run, times=4)

    [notice] = Notice.objects.all()
    assert (notice.user, notice.kind) == (scene.organizer, "check-failing")
    assert "files cannot be read or written (No such file or directory)" in notice.text


def test_the_team_sees_the_fault_but_cannot_retry(
    run: Run, scene: Scene, media: Path, client_of
) -> None:
    (media / "uploads").rename(media / "elsewhere")
    fail(run, times=1)
    member = client_of(scene.member)
    page = member.get(PAGE.format(run.pk)).text
    member.post(PAGE.format(run.pk) + "retry/")

    assert "the fault is not in it" in page
    assert "Retry now" not in page
    run.refresh_from_db()
    assert run.attempts == 1


def test_a_job_waits_while_its_files_are_gone_and_is_retried(
    scene: Scene, media: Path, client_of
) -> None:
    organizer = client_of(scene.organizer)
    organizer.post(TASK + "load/topics/", {"topics": file("t.xml", TOPICS)})
    job = Job.objects.get()
    sent = next((media / "loads" / job.folder).glob("t_*.xml"))
    sent.rename(media / "away")
    run_waiting_job(job_id=job.pk, at=timezone.now())
    job.refresh_from_db()
    page = organizer.get(f"/loads/{job.pk}/").text

    assert (job.state, job.attempts) == ("waiting", 1)
    assert "Retry now" in page
    assert "The server could not do this: files cannot be read or written" in page
    run_waiting_jobs()
    assert Job.objects.get().state == "waiting"
    (media / "away").rename(sent)
    organizer.post(f"/loads/{job.pk}/retry/")
    run_waiting_jobs()
    assert Job.objects.get().state == "done"
