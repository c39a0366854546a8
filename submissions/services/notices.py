"""Notices to teams about their runs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db.models import Sum
from django.urls import reverse

from arqlab.core.models import Task
from arqlab.notices.models import Kind
from arqlab.notices.selectors import members_of
from arqlab.notices.services.notifying import notify
from submissions.models import Run, RunProblem, Upload


def notify_of_validation(run: Run, *, at: datetime) -> None:
    """Notify a team of the results of its upload after the last run in it was validated.

    Files that were sent together are one upload.
    """
    if run.check_only:
        return
    together = Run.objects.submitted().filter(
        task=run.task_id, team=run.team_id, submitted_at=run.submitted_at
    )
    # Lock the first file: of two workers that finish the last runs, one must see all results.
    first = together.order_by("upload").values("upload")[:1]
    Upload.objects.select_for_update().get(pk__in=first)
    runs = list(together.select_related("upload").order_by("pk"))
    if any(one.status in (Run.Status.UPLOADED, Run.Status.VALIDATING) for one in runs):
        return
    files = list(dict.fromkeys(one.upload.name for one in runs))
    notify(
        lab=run.task.lab,
        kind=Kind.RUNS_VALIDATED,
        people=members_of(run.team),
        path=_path(runs, run.task),
        key=f"runs-validated {run.pk} {at.isoformat()}",
        values={
            "task": run.task.name,
            "team": run.team.name,
            "file": files[0] if len(files) == 1 else f"{len(files)} files",
            "person": run.submitted_by.name if run.submitted_by else "An organizer",
            "summary": _summary(runs),
            "runs": _result_lines(runs),
        },
    )


def _path(runs: Sequence[Run], task: Task) -> str:
    """Return the page of the only run, or of the list of runs."""
    place = [task.lab.slug, task.slug]
    if len(runs) == 1:
        return reverse("desk:run-detail", args=[*place, runs[0].pk])
    return reverse("submissions:run-list", args=place)


def _summary(runs: Sequence[Run]) -> str:
    valid, total = sum(run.status == Run.Status.VALID for run in runs), len(runs)
    if total == 1:
        return f"run {runs[0].tag} {'is valid' if valid else 'has errors'}"
    if valid in (0, total):
        return f"{total} runs {'are valid' if valid else 'have errors'}"
    return f"{valid} of {total} runs are valid"


def _result_lines(runs: Sequence[Run]) -> str:
    """Return a line for each run: its state, errors and warnings."""
    problems = RunProblem.objects.filter(run__in=runs).order_by().values_list("run", "severity")
    counts = {(run, level): count for run, level, count in problems.annotate(n=Sum("count"))}
    lines = []
    for run in runs:
        parts = ["valid" if run.status == Run.Status.VALID else "not valid"]
        parts += ["primary run"] if run.is_primary and run.status == Run.Status.VALID else []
        parts += [
            f"{count:,} {level}{'s' if count != 1 else ''}"
            for level in (RunProblem.Level.ERROR, RunProblem.Level.WARNING)
            if (count := counts.get((run.pk, level)))
        ]
        lines.append(f"- {run.tag}: {', '.join(parts)}")
    return "\n".join(lines)
