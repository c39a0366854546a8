"""Oddities of the runs of a task, which organizers check before a ceremony."""

from dataclasses import replace
from datetime import datetime

from django.db.models import QuerySet

from arqlab.core.models import Task
from arqlab.labs.oddities import Oddity, named_oddity, submission_oddities
from arqlab.web import task_url
from submissions.models import Run
from submissions.selectors import identical_runs


def run_oddities(task: Task) -> list[Oddity]:
    """Return the checks for runs being checked, identical runs, and teams without primary runs."""
    return [_waiting(task), _identical(task), _without_primary(task)]


def closing_oddities(task: Task, *, at: datetime) -> list[Oddity]:
    """Return the checks before closing a task: its dates, runs left behind, and `run_oddities`."""
    has_time = task.deadline is not None or task.state(at) == "upcoming"
    # To close before the deadline is what the organizer came for, so it is not red.
    time = [replace(check, is_red=False) for check in submission_oddities(task, at=at) if has_time]
    return [*time, _no_runs(task), _unsubmitted(task), _invalid(task), *run_oddities(task)]


def _runs_url(task: Task) -> str:
    return task_url("submissions:run-list", task)


def _names(runs: QuerySet[Run]) -> list[str]:
    return list(map(str, runs.select_related("team").order_by("team__name", "tag")))


def _no_runs(task: Task) -> Oddity:
    runs = Run.objects.valid().filter(task=task, is_baseline=False)
    missing = int(not runs.exists())
    sentence, fine = "No team has a valid run.", "There are valid runs of teams."
    return Oddity(sentence, missing, _runs_url(task), fine)


def _unsubmitted(task: Task) -> Oddity:
    names = _names(Run.objects.filter(task=task, check_only=True, status=Run.Status.VALID))
    things = "valid run was not submitted", "valid runs were not submitted"
    return named_oddity(names, things, _runs_url(task), "All valid runs are submitted.")


def _invalid(task: Task) -> Oddity:
    runs = Run.objects.submitted().filter(task=task, withdrawn_at=None, status=Run.Status.INVALID)
    things = ("submitted run has errors", "submitted runs have errors")
    return named_oddity(_names(runs), things, _runs_url(task), "No submitted run has errors.")


def _waiting(task: Task) -> Oddity:
    submitted = Run.objects.submitted().filter(task=task, withdrawn_at=None)
    names = _names(submitted.filter(status__in=["uploaded", "validating"]))
    things = ("run is still being checked", "runs are still being checked")
    return named_oddity(names, things, _runs_url(task), "All runs are checked.", is_red=True)


def _identical(task: Task) -> Oddity:
    groups = identical_runs(task)
    names = [" = ".join(map(str, runs)) for runs in groups]
    things = ("group of runs is byte-identical", "groups of runs are byte-identical")
    copies = {f"runs-{run.pk}": f"Identical to {runs[0]}." for runs in groups for run in runs[1:]}
    fine = "No runs are byte-identical."
    return named_oddity(names, things, _runs_url(task), fine, leave_out=copies)


def _without_primary(task: Task) -> Oddity:
    runs = Run.objects.valid().filter(task=task, is_baseline=False)
    teams = runs.order_by("team__name").values_list("team__name", flat=True).distinct()
    primary = set(runs.filter(is_primary=True).values_list("team__name", flat=True))
    names = [name for name in teams if name not in primary]
    things = ("team has valid runs but no primary run", "teams have valid runs but no primary run")
    return named_oddity(names, things, _runs_url(task), "All teams have a primary run.")
