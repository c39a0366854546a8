"""Notices to teams about their runs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db.models import Sum
from django.urls import reverse

from arqlab.notices.models import Kind
from arqlab.notices.selectors import members_of
from arqlab.notices.services.notifying import notify
from submissions.models import Run, RunProblem, Upload


def notify_of_validation(run: Run, *, at: datetime) -> None:
    """Notify a team of the results of an upload after the last of its runs was validated."""
    if run.check_only:
        return
    # Lock the upload: of two workers that finish its last runs, the second must see both results.
    Upload.objects.select_for_update().get(pk=run.upload_id)
    runs = list(run.upload.runs.filter(check_only=False, team=run.team_id).order_by("pk"))
    if any(one.status in (Run.Status.UPLOADED, Run.Status.VALIDATING) for one in runs):
        return
    place = [run.task.lab.slug, run.task.slug]
    path = (
        reverse("pages:run-detail", args=[*place, run.pk])
        if len(runs) == 1
        else reverse("submissions:run-list", args=place)
    )
    notify(
        lab=run.task.lab,
        kind=Kind.RUNS_VALIDATED,
        people=members_of(run.team),
        path=path,
        key=f"runs-validated {run.pk} {at.isoformat()}",
        values={
            "task": run.task.name,
            "team": run.team.name,
            "file": run.upload.name,
            "person": run.submitted_by.name if run.submitted_by else "an organizer",
            "summary": _summary(runs),
            "runs": _result_lines(runs),
        },
    )


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
