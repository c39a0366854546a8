"""Runs that organizers leave out of a pool, or of the competition, each with a reason."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypedDict

from django.db.models import QuerySet

from arqlab.core.errors import UserError
from arqlab.core.models import Task
from submissions.models import Run


class LeftOutRun(TypedDict):
    """A run that was left out of a pool, a version of the qrels or a leaderboard, and why."""

    run: int
    team: str
    tag: str
    reason: str


def left_out_runs(runs: QuerySet[Run], reasons: Mapping[int, str]) -> list[LeftOutRun]:
    """Return records of the `runs` that have a reason, by team and tag.

    Raises `UserError` for a reason of another run.
    """
    runs_to_leave_out = runs.filter(pk__in=list(reasons)).select_related("team")
    left_out = [
        LeftOutRun(run=run.pk, team=run.team.name, tag=run.tag, reason=reasons[run.pk])
        for run in runs_to_leave_out.order_by("team__name", "tag", "pk")
    ]
    if len(left_out) != len(reasons):
        raise UserError(
            "A run that you left out is no longer valid. Reload the page.", code="unknown-run"
        )
    return left_out


def out_of_competition(runs: QuerySet[Run]) -> list[LeftOutRun]:
    """Return records of the `runs` that are out of competition."""
    apart = runs.exclude(out_of_competition="").values_list("pk", "out_of_competition")
    return left_out_runs(runs, dict(apart))


def set_out_of_competition(task: Task, reasons: Mapping[int, str] | None) -> list[LeftOutRun]:
    """Mark the valid runs that have a reason as out of competition. Return their records.

    Without `reasons`, nothing changes. Call this in a transaction. Raises as `left_out_runs` does.
    """
    runs = Run.objects.valid().filter(task=task)
    if reasons is None:
        return out_of_competition(runs)
    record = left_out_runs(runs, reasons)
    runs.exclude(out_of_competition="").update(out_of_competition="")
    for run, reason in reasons.items():
        runs.filter(pk=run).update(out_of_competition=reason)
    return record


def reasons_by_run(runs: QuerySet[Run], pairs: Iterable[Sequence[str]]) -> dict[int, str]:
    """Return the reasons by run from the pairs of a command: a run, `TEAM TAG`, and a reason.

    Raises `UserError` with the names of `runs` if a run is unknown, and for an empty reason.
    """
    keys = {f"{run.team} {run.tag}": run.pk for run in runs.select_related("team")}
    reasons = {name: reason.strip() for name, reason in pairs}
    if unknown := [name for name in reasons if name not in keys]:
        names = ", ".join(sorted(keys)) or "none yet"
        raise UserError(
            f"Unknown run: {', '.join(unknown)}. Use the team and the run tag, one of {names}.",
            code="unknown-run",
        )
    require_reasons(reasons)
    return {keys[name]: reason for name, reason in reasons.items()}


def require_reasons(reasons: Mapping[str, str]) -> None:
    """Raise `UserError` if a name has an empty reason."""
    if empty := [name for name, reason in reasons.items() if not reason.strip()]:
        raise UserError(f"Enter a reason to leave out {', '.join(empty)}.", code="no-reason")
