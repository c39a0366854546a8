"""Jobs wait in lanes, can be cancelled there, and dead ones are released while others run."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from arqlab.celery import app
from arqlab.celery import lane_of as queue_of
from arqlab.core.models import STALE_JOB, Job
from arqlab.jobs.services.jobs import run_next_job
from arqlab.jobs.tasks import run_quick_jobs, run_short_jobs, run_waiting_jobs, sweep_dead_jobs
from arqlab.web.jobs import JOB_KINDS, LARGE, JobKind, JobLane, lane_of_job

TASKS = {
    JobLane.SECONDS: "arqlab.jobs.tasks.run_quick_jobs",
    JobLane.MINUTES: "arqlab.jobs.tasks.run_short_jobs",
    JobLane.HOURS: "arqlab.jobs.tasks.run_waiting_jobs",
}
RELEASE = "arqlab.jobs.tasks.sweep_dead_jobs"


def job(kind, **fields):
    return Job(kind=kind, created_at=timezone.now(), updated_at=timezone.now(), **fields)


def test_each_lane_has_a_queue_and_the_release_of_dead_jobs_waits_in_none():
    queues = {queue_of(task) for task in TASKS.values()}

    assert len(queues) == len(JobLane)
    assert queue_of(RELEASE) not in queues
    assert queue_of("arqlab.jobs.tasks.run_job") == queue_of(TASKS[JobLane.SECONDS])
    scheduled = {entry["task"] for entry in app.conf.beat_schedule.values()}
    assert scheduled >= {*TASKS.values(), RELEASE}


def test_a_large_load_waits_for_no_small_one():
    assert lane_of_job(job("collection", files=[{"size": LARGE}])) == JobLane.HOURS
    assert lane_of_job(job("runs", files=[{"size": LARGE - 1}])) == JobLane.MINUTES


@pytest.mark.django_db
def test_a_worker_of_a_lane_takes_its_jobs_and_that_of_the_longest_takes_all(scene, monkeypatch):
    ran = []
    for kind, lane in (
        ("topics", JobLane.SECONDS),
        ("archive", JobLane.MINUTES),
        ("lab", JobLane.HOURS),
    ):
        run = lambda work: ran.append(work.job.kind) or []  # noqa: E731
        monkeypatch.setitem(JOB_KINDS, kind, JobKind(kind, run, lane))
        for _ in range(2):
            job(kind, lab=scene.lab, by=scene.organizer).save()

    assert run_next_job(at=timezone.now(), lanes=[JobLane.MINUTES])
    run_quick_jobs()
    run_short_jobs()
    assert ran == ["archive", "topics", "topics", "archive"]
    run_waiting_jobs()
    assert ran[4:] == ["lab", "lab"]


@pytest.mark.django_db
def test_a_dead_job_waits_again_while_another_runs(scene):
    def of_worker(seen):
        stored = job("archive", lab=scene.lab, by=scene.organizer, state="running", attempts=1)
        stored.updated_at = seen
        stored.save()
        return stored

    at = timezone.now()
    dead, alive = of_worker(at - STALE_JOB - timedelta(seconds=1)), of_worker(at)

    sweep_dead_jobs()

    states = dict(Job.objects.values_list("pk", "state"))
    assert states == {dead.pk: Job.State.WAITING, alive.pk: Job.State.RUNNING}


@pytest.mark.django_db
@pytest.mark.parametrize("kind", ["archive", "runs"])
def test_the_list_of_loads_cancels_what_waits(scene, client_of, kind):
    stored = job(kind, lab=scene.lab, task=scene.task, by=scene.organizer)
    stored.save()
    client = client_of(scene.organizer)
    page = client.get(reverse("desk:load-list", args=[scene.lab.slug])).content.decode()
    address = reverse("desk:load-stop", args=[stored.pk])

    assert f'action="{address}"' in page
    assert "Cancel" in page
    client.post(address)
    stored.refresh_from_db()
    assert (stored.state, stored.log.count("Stopped by")) == (Job.State.STOPPED, 1)
    assert (
        address not in client.get(reverse("desk:load-list", args=[scene.lab.slug])).content.decode()
    )


@pytest.mark.django_db
def test_a_program_lists_the_jobs_of_a_lab_and_cancels_one(scene, client_of):
    stored = job("archive", lab=scene.lab, task=scene.task, by=scene.organizer)
    stored.save()
    client = client_of(scene.organizer)
    jobs = f"/api/v1/labs/{scene.lab.slug}/jobs/"
    [row] = client.get(jobs).json()["results"]
    answer = client.post(f"{jobs}{row['id']}/stop/")

    assert (row["kind"], row["lane"], row["state"], row["task"]) == (
        "archive",
        "minutes",
        "waiting",
        "task1",
    )
    assert (answer.status_code, answer.json()["state"]) == (200, "stopped")
    assert client.get(f"{jobs}{row['id']}/").json()["state"] == "stopped"
    assert client_of(scene.member).post(f"{jobs}{row['id']}/stop/").status_code == 404
