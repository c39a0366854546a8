"""Oddities of the runs of a task, which organizers check before a ceremony."""

from __future__ import annotations

from datetime import datetime

from arqlab.core.models import Task
from arqlab.core.oddities import Oddity, counted, name_list, submission_oddities, task_url
from submissions.models import Run
from submissions.selectors import identical_runs


def run_oddities(task: Task) -> list[Oddity]:
    """Return the oddities: runs being checked, identical runs, and teams without a primary run."""
    url = task_url("submissions:run-list", task)
    sentences = (_waiting(task), _identical(task), _without_primary(task))
    return [Oddity(sentence, count, url) for sentence, count in sentences if count]


def closing_oddities(task: Task, *, at: datetime) -> list[Oddity]:
    """Return the oddities of closing a task: its dates, runs left behind, and `run_oddities`."""
    has_time = task.deadline is not None or task.state(at) == "upcoming"
    time = submission_oddities(task, at=at) if has_time else []
    url = task_url("submissions:run-list", task)
    sentences = (_no_runs(task), _unsubmitted(task), _invalid(task))
    left_behind = [Oddity(sentence, count, url) for sentence, count in sentences if count]
    return [*time, *left_behind, *run_oddities(task)]


def _no_runs(task: Task) -> tuple[str, int]:
    runs = Run.objects.valid().filter(task=task, is_baseline=False)
    return "No team has a valid run.", int(not runs.exists())


def _unsubmitted(task: Task) -> tuple[str, int]:
    checked = Run.objects.filter(task=task, check_only=True, status=Run.Status.VALID)
    names = list(map(str, checked.select_related("team").order_by("team__name", "tag")))
    count = counted(len(names), "valid run was", "valid runs were")
    return f"{count} checked but not submitted: {name_list(names)}.", len(names)


def _invalid(task: Task) -> tuple[str, int]:
    runs = Run.objects.submitted().filter(task=task, withdrawn_at=None, status=Run.Status.INVALID)
    names = list(map(str, runs.select_related("team").order_by("team__name", "tag")))
    count = counted(len(names), "submitted run has", "submitted runs have")
    return f"{count} errors: {name_list(names)}.", len(names)


def _waiting(task: Task) -> tuple[str, int]:
    waiting = Run.objects.submitted().filter(task=task, withdrawn_at=None).select_related("team")
    names = [str(run) for run in waiting.filter(status__in=["uploaded", "validating"])]
    return (
        f"{counted(len(names), 'run is', 'runs are')} still being checked: {name_list(names)}.",
        len(names),
    )


def _identical(task: Task) -> tuple[str, int]:
    groups = [" = ".join(map(str, runs)) for runs in identical_runs(task)]
    count = counted(len(groups), "group of runs is", "groups of runs are")
    return f"{count} byte-identical: {name_list(groups)}.", len(groups)


def _without_primary(task: Task) -> tuple[str, int]:
    runs = Run.objects.valid().filter(task=task, is_baseline=False)
    teams = runs.order_by("team__name").values_list("team__name", flat=True).distinct()
    primary = set(runs.filter(is_primary=True).values_list("team__name", flat=True))
    names = [name for name in teams if name not in primary]
    count = counted(len(names), "team has", "teams have")
    return f"{count} valid runs but no primary run: {name_list(names)}.", len(names)
