"""The schedule in the web process runs each task, and survives a failing one."""

from __future__ import annotations

import pytest
from celery import Task
from django.apps import apps

from arqlab import schedule
from arqlab.celery import SUBJECTS, app
from tests.paths import ROOT


class Stop(BaseException):
    """Ends the schedule's endless loop."""


@pytest.fixture
def failed(monkeypatch):
    """Return the tasks logged as failed."""
    names: list[str] = []
    monkeypatch.setattr(schedule.logger, "exception", lambda message, task: names.append(task))
    return names


@pytest.fixture
def played(monkeypatch, failed):
    """Run the schedule for two rounds with recording tasks, and return the records."""
    turns: list[str] = []
    rounds = iter([None, Stop()])

    def pause(seconds: float) -> None:
        if stop := next(rounds):
            raise stop

    def apply(self: Task, **options: object) -> None:
        turns.append(self.name)
        if "score" in self.name:
            raise ValueError("a broken task")

    monkeypatch.setattr(schedule.time, "sleep", pause)
    monkeypatch.setattr(Task, "apply", apply)
    monkeypatch.setattr(schedule, "close_old_connections", lambda: None)
    with pytest.raises(Stop):
        schedule._run_schedule(app.conf.beat_schedule)
    return turns


def test_a_worker_knows_the_tasks_of_every_package():
    found = {
        ".".join(path.parent.relative_to(ROOT).parts)
        for top in ("arqlab", "assessment", "collection", "evaluation", "retrieval", "submissions")
        for path in (ROOT / top).rglob("tasks.py")
        if "@app.task" in path.read_text(encoding="utf-8")
    }

    assert found - {config.name for config in apps.get_app_configs()} == set(SUBJECTS)


def test_every_scheduled_task_runs_at_its_interval(played):
    assert sorted(played) == sorted(entry["task"] for entry in app.conf.beat_schedule.values())


def test_a_failing_task_is_logged_and_does_not_stop_the_others(failed, played):
    assert failed == ["evaluation.tasks.score_unscored_runs"]
    assert "submissions.tasks.validate_waiting_runs" in played


def test_the_schedule_is_a_thread_that_ends_with_the_process(monkeypatch):
    monkeypatch.setattr(schedule, "_run_schedule", lambda names: None)
    thread = schedule.start_schedule()
    thread.join()

    assert thread.daemon
    assert not thread.is_alive()
