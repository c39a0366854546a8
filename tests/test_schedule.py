"""The background process runs each task, and survives a failing one."""

import pytest
from celery import Task

from arqlab import schedule
from arqlab.celery import app, lane_of, packages_with_tasks
from tests.paths import PACKAGES, ROOT


@pytest.fixture
def failed(monkeypatch):
    """Return the tasks logged as failed."""
    names: list[str] = []
    monkeypatch.setattr(schedule.logger, "exception", lambda message, task: names.append(task))
    return names


@pytest.fixture
def played(monkeypatch, failed):
    """Run all lanes once with recording tasks, and return the records."""
    turns: list[str] = []

    def apply(self: Task, args: object, **options: object) -> None:
        turns.append(self.name)
        if "score" in self.name:
            raise ValueError("a broken task")

    monkeypatch.setattr(Task, "apply", apply)
    monkeypatch.setattr(schedule, "close_old_connections", lambda: None)
    for lane in schedule.lanes().values():
        lane.asked.put(("arqlab.notices.tasks.send_mail", ()))  # one that is asked for
        lane.step()
    return turns


def test_a_worker_knows_the_tasks_of_every_package():
    modules = {
        ".".join(path.with_suffix("").relative_to(ROOT).parts)
        for package in PACKAGES
        for path in (ROOT / package).rglob("tasks.py")
        if "@scheduled" in path.read_text(encoding="utf-8")
    }

    assert len(modules) > 5
    assert {f"{package}.tasks" for package in packages_with_tasks()} >= modules
    assert {name.rpartition(".")[0] for name in app.conf.beat_schedule} == modules


def test_every_task_that_is_scheduled_or_asked_for_runs(played):
    asked = ["arqlab.notices.tasks.send_mail"] * len(schedule.lanes())
    scheduled = [entry["task"] for entry in app.conf.beat_schedule.values()]
    assert sorted(played) == sorted(asked + scheduled)


def test_a_failing_task_is_logged_and_does_not_stop_the_others(failed, played):
    assert failed == ["evaluation.tasks.score_unscored_runs"]
    assert "submissions.tasks.validate_waiting_runs" in played


def test_long_jobs_keep_no_run_and_no_score_waiting():
    assert lane_of("arqlab.jobs.tasks.run_waiting_jobs") not in {
        lane_of("submissions.tasks.validate_next_run"),
        lane_of("evaluation.tasks.score_unscored_runs"),
    }


def test_every_task_has_a_queue_of_the_settings():
    schedule.lanes()
    for task in app.tasks:
        queue = app.amqp.router.route({}, task)["queue"]
        assert queue.name == lane_of(task)
        assert queue in app.conf.task_queues
