"""The warning about runs with the same bytes in the same task."""

from __future__ import annotations

from submissions.models import Run, RunProblem

KIND = "identical-run"
OTHER_TEAM = "An identical run was already submitted to this task. The organizers can see both."


def warn_of_identical_runs(run: Run) -> None:
    """Add a warning to the report of a checked run if a valid run of the task has the same bytes.

    The warning names only runs of the same team: a team must not learn whose run is like its own.
    An earlier warning is replaced.
    """
    run.problems.filter(kind=KIND).delete()
    run.refresh_from_db(fields=["sha256"])
    same = Run.objects.scorable().filter(task=run.task_id, sha256=run.sha256).exclude(pk=run.pk)
    pairs = same.exclude(sha256="").order_by("tag").values_list("tag", "team")
    own = [tag for tag, team in pairs if team == run.team_id]
    if not pairs:
        return
    sentences = [f"Your team already submitted an identical run: {', '.join(own)}."] if own else []
    if len(own) < len(pairs):
        sentences.append(OTHER_TEAM)
    RunProblem.objects.create(
        run=run,
        position=run.problems.count(),
        kind=KIND,
        severity=RunProblem.Level.WARNING,
        count=1,
        message=" ".join(sentences),
        todo="Check that you uploaded the right file.",
    )
