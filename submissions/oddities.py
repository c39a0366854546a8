"""Oddities of the runs of a task, which organizers check before a ceremony."""

from __future__ import annotations

from arqlab.core.models import Task
from arqlab.core.oddities import Oddity, counted, name_list, task_url
from submissions.models import Run
from submissions.selectors import identical_runs


def run_oddities(task: Task) -> list[Oddity]:
    """Return the oddities: runs being checked, identical runs, and teams without a primary run."""
    url = task_url("submissions:run-list", task)
    sentences = (_waiting(task), _identical(task), _without_primary(task))
    return [Oddity(sentence, count, url) for sentence, count in sentences if count]


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
