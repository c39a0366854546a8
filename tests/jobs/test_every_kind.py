"""A job of every kind ends, and makes once what it makes, whatever happens to it."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import NamedTuple

import pytest
from django.db import Error, connection
from django.utils import timezone

from arqlab.core.caches import computed_values
from arqlab.core.models import STALE_JOB, Job
from arqlab.jobs import tasks
from arqlab.jobs.services.jobs import release_dead_jobs, repeat_job, run_waiting_job, stop_job
from arqlab.web.jobs import JOB_KINDS
from collection.models import Import
from submissions.services.validation import release_stale_claims, validate_run_in_turn
from tests.databases import empty_tables
from tests.jobs.cases import CASES, Ground, kind_of, make_ground, rows_by_model
from tests.jobs.disturbing import (
    SMALL,
    another_connection,
    before_each_statement,
    counted,
    killed,
    locked,
)

pytestmark = pytest.mark.django_db(transaction=True)
DONE = Job.State.DONE


class Undisturbed(NamedTuple):
    """What a job made when nothing happened to it, and its statements."""

    rows: dict[str, int]
    outside: int
    statements: int


UNDISTURBED: dict[str, Undisturbed] = {}


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def make(tmp_path, media, settings, monkeypatch) -> Iterator[Callable[[str], tuple[Ground, Job]]]:
    """Return what stores the data of a case and starts its job, which then waits."""
    settings.DATA_DIR = tmp_path / "data"
    monkeypatch.setattr(tasks, "wake_after_commit", lambda *_: None)
    for module, name, size in SMALL:
        monkeypatch.setattr(module, name, size)

    def start(case: str) -> tuple[Ground, Job]:
        for folder in (media, settings.DATA_DIR):  # what an earlier job made is not there already
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
        computed_values.clear()
        ground = make_ground(tmp_path)
        return ground, CASES[case](ground)

    return start


@pytest.fixture
def undisturbed(case, make) -> Undisturbed:
    """Return what the job of the case makes; it is made once, for all tests of the case."""
    if case not in UNDISTURBED:
        _, job = make(case)
        outside, statements = counted(job.pk)
        job.refresh_from_db()
        assert job.state == DONE, (job.message, list(job.problems.all()), job.changes)
        UNDISTURBED[case] = Undisturbed(rows_by_model(), outside, statements)
        empty_tables(connection)
    return UNDISTURBED[case]


@contextmanager
def impatient() -> Iterator[None]:
    """Let this thread not wait for the lock of SQLite."""
    options = connection.settings_dict["OPTIONS"]
    connection.close()
    before = dict(options)
    options |= {"timeout": 0} if connection.vendor == "sqlite" else {}
    try:
        yield
    finally:
        connection.close()
        options.clear()
        options.update(before)


def state_of(job: Job) -> str:
    job.refresh_from_db()
    return job.state


def rows_in_the_end() -> dict[str, int]:
    """Return the rows once the schedule has checked the runs that a dead worker had begun."""
    at = timezone.now() + timedelta(hours=1)
    release_stale_claims(at=at)
    while validate_run_in_turn(at=at + timedelta(days=1)):
        pass
    return rows_by_model()


def differing(undisturbed: Undisturbed) -> dict[str, tuple[int, int]]:
    """Return the numbers of rows that differ from those without a disturbance, by model."""
    rows, others = rows_in_the_end(), undisturbed.rows
    return {
        name: (others.get(name, 0), rows.get(name, 0))
        for name in {*rows, *others}
        if rows.get(name) != others.get(name)
    }


def after_release(job: Job) -> str:
    """Let a job whose worker died be run by another, and return its state."""
    # The imports of the job are as old as the job when it is released.
    Import.objects.update(updated_at=timezone.now() - STALE_JOB)
    release_dead_jobs(at=timezone.now() + 2 * STALE_JOB)
    assert state_of(job) == Job.State.WAITING, job.log
    run_waiting_job(job_id=job.pk, at=timezone.now())
    return state_of(job)


OTHERWISE = {"restore"}
"""A restore makes a lab in one transaction, so that nothing of it is ever there by halves:
`tests/desk/views/test_restoring.py` has it."""


def test_every_kind_of_job_is_tested() -> None:
    lacking = set(JOB_KINDS) - OTHERWISE - {kind_of(case) for case in CASES}
    assert lacking == set(), "Add a small one to CASES, of an optional app in its tests' jobs.py."


def test_another_connection_writes_between_any_two_statements(case, undisturbed, make) -> None:
    _, job = make(case)
    alive = Job.objects.filter(pk=job.pk)
    with another_connection() as run:

        def beat(_: int) -> None:
            run(lambda: alive.update(updated_at=timezone.now()))

        with before_each_statement(beat):
            run_waiting_job(job_id=job.pk, at=timezone.now())

    assert (state_of(job), differing(undisturbed)) == (DONE, {}), job.message


@pytest.mark.parametrize("part", [0.6, 1])
def test_a_killed_worker_loses_and_doubles_nothing(case, undisturbed, make, part) -> None:
    _, job = make(case)

    assert killed(job.pk, round(part * undisturbed.statements))
    assert state_of(job) == Job.State.RUNNING
    assert (after_release(job), differing(undisturbed)) == (DONE, {}), job.message


@pytest.mark.parametrize("part", [0.7])
def test_a_lost_database_delays_a_job(case, undisturbed, make, part) -> None:
    _, job = make(case)
    statement = max(2, round(part * undisturbed.outside))
    lost = locked()

    def lose(number: int) -> None:
        if number == statement:
            lost.__enter__()

    with impatient(), suppress(Error), before_each_statement(lose):
        run_waiting_job(job_id=job.pk, at=timezone.now())
    lost.__exit__(None, None, None)
    connection.close()
    state = state_of(job)
    if state == Job.State.WAITING:
        run_waiting_job(job_id=job.pk, at=timezone.now())
    elif state == Job.State.RUNNING:
        after_release(job)

    assert state in (DONE, Job.State.WAITING, Job.State.RUNNING)
    assert (state_of(job), differing(undisturbed)) == (DONE, {}), job.message


@pytest.mark.parametrize("part", [0.5])
def test_a_stopped_job_is_repeated_to_the_same_end(case, undisturbed, make, part) -> None:
    ground, job = make(case)
    statement = max(2, round(part * undisturbed.outside))
    by = ground.scene.superuser
    with another_connection() as run:

        def stop(number: int) -> None:
            if number == statement:
                run(lambda: stop_job(job=job, at=timezone.now(), by=by))

        with before_each_statement(stop):
            run_waiting_job(job_id=job.pk, at=timezone.now())
    if (state := state_of(job)) == Job.State.STOPPED:
        repeat_job(job=job, options=job.options, at=timezone.now(), by=by)
        run_waiting_job(job_id=job.pk, at=timezone.now())

    assert state in (DONE, Job.State.STOPPED)
    assert (state_of(job), differing(undisturbed)) == (DONE, {}), job.message
