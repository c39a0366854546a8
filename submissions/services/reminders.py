"""Notices to teams: validated uploads, and reminders before a deadline."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from django.db import transaction
from django.db.models import Count, Q, Sum
from django.utils.dateformat import format as format_date

from arqlab.core.models import Task, Team
from arqlab.labs.selectors import organizers_of
from arqlab.notices.models import Kind, Notice
from arqlab.notices.selectors import members_of
from arqlab.notices.services.notifying import notify
from arqlab.web import counted, task_url
from submissions.models import Run, RunProblem, Upload
from submissions.selectors import runs_page

PRIMARY_REMINDER = timedelta(hours=48)
DEADLINE_REMINDER = timedelta(hours=24)
ANYWHERE_ON_EARTH = ZoneInfo("Etc/GMT+12")


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
    if any(sent_run.status in (Run.Status.UPLOADED, Run.Status.VALIDATING) for sent_run in runs):
        return
    files = list(dict.fromkeys(sent_run.upload.name for sent_run in runs))
    notify(
        run.task,
        Kind.RUNS_VALIDATED,
        members_of(run.team),
        path=runs_page(run.task, runs),
        key=f"runs-validated {run.pk} {at.isoformat()}",
        team=run.team.name,
        file=files[0] if len(files) == 1 else f"{len(files)} files",
        person=run.submitted_by.name if run.submitted_by else "An organizer",
        summary=_summary(runs),
        runs=_result_lines(runs),
    )


def notify_of_fault(run: Run, reason: str, *, at: datetime, work: str = "check") -> None:
    """Notify the organizers that the server cannot do its work on runs of a task, once a day."""
    notify(
        run.task,
        Kind.CHECK_FAILING,
        organizers_of(run.task.lab),
        path=runs_page(run.task, [run]),
        key=f"{work}-failing {run.task_id} {at:%Y-%m-%d}",
        run=run.tag,
        team=run.team.name,
        work=work,
        reason=reason,
    )


def _summary(runs: Sequence[Run]) -> str:
    valid, total = sum(run.status == Run.Status.VALID for run in runs), len(runs)
    if total == 1:
        return f"run {runs[0].tag} {'is valid' if valid else 'has errors'}"
    if valid in (0, total):
        return f"{total} runs {'are valid' if valid else 'have errors'}"
    return f"{valid} of {total} runs are valid"


def _result_lines(runs: Sequence[Run]) -> str:
    problems = RunProblem.objects.filter(run__in=runs).order_by().values_list("run", "severity")
    counts = {(run, level): count for run, level, count in problems.annotate(n=Sum("count"))}
    weighty = [problem for problem in RunProblem.objects.filter(run__in=runs) if problem.weighs]
    lines = []
    for run in runs:
        parts = ["valid" if run.status == Run.Status.VALID else "not valid"]
        parts += ["primary run"] if run.is_primary and run.status == Run.Status.VALID else []
        parts += [
            counted(count, level)
            for level in (RunProblem.Level.ERROR, RunProblem.Level.WARNING)
            if (count := counts.get((run.pk, level)))
        ]
        lines.append(f"- {run.tag}: {', '.join(parts)}")
        lines += [f"  {problem.message}" for problem in weighty if problem.run_id == run.pk]
    return "\n".join(lines)


def remind_teams(*, at: datetime) -> None:
    """Remind each team once of each deadline.

    Teams without a primary run are reminded 48 hours before, all teams 24 hours before. When the
    deadline moves, they are reminded of the new one.
    """
    open_now = Q(opens_at=None) | Q(opens_at__lte=at)
    is_live = Q(closed_at=None, archived_at=None, lab__archived_at=None)
    soon = Q(deadline__gt=at, deadline__lte=at + PRIMARY_REMINDER)
    closing = Task.objects.filter(open_now & is_live & soon)
    for pk in closing.values_list("pk", flat=True):
        _remind_of_deadline(pk, at)


@transaction.atomic
def _remind_of_deadline(task_pk: int, at: datetime) -> None:
    # Lock the task: two workers at once must not both find that a team was not reminded.
    task = Task.objects.select_for_update(of=("self",)).select_related("lab").get(pk=task_pk)
    if task.deadline is None or task.deadline <= at:
        return
    is_last = task.deadline - at <= DEADLINE_REMINDER
    kind = Kind.DEADLINE if is_last else Kind.NO_PRIMARY_RUN
    event = f"{kind} {task.pk} {task.deadline.isoformat()}"
    notices = Notice.objects.filter(lab=task.lab, kind=kind, key__startswith=event)
    sent_keys = set(notices.values_list("key", flat=True))
    for team, valid, primary in _teams_with_runs(task):
        key = f"{event} {team.pk}"
        if key in sent_keys or (primary and not is_last):
            continue
        notify(
            task,
            kind,
            members_of(team),
            path=task_url("submissions:run-list", task),
            key=key,
            team=team.name,
            runs=_runs_in_words(valid, bool(primary)),
            deadline=moment_in_words(task.deadline),
            remaining=hours_in_words(task.deadline - at),
        )


def _teams_with_runs(task: Task) -> list[tuple[Team, int, int]]:
    """Return the teams with members; their valid runs, and primary runs (also waiting ones)."""
    runs = Run.objects.counting().filter(task=task).order_by().values("team")
    numbers = runs.values_list("team").annotate(
        valid=Count("pk", filter=Q(status=Run.Status.VALID)),
        primary=Count("pk", filter=Q(is_primary=True)),
    )
    counts = {team: (valid, primary) for team, valid, primary in numbers}
    teams = task.lab.teams.filter(memberships__isnull=False).distinct()
    return [(team, *counts.get(team.pk, (0, 0))) for team in teams]


def _runs_in_words(valid: int, has_primary: bool) -> str:
    if not valid:
        return "no valid run yet"
    if valid == 1:
        return f"1 valid run, which is {'' if has_primary else 'not '}primary"
    return f"{valid} valid runs, {'one' if has_primary else 'none'} of them primary"


def hours_in_words(remaining: timedelta) -> str:
    """Return a period rounded to hours: `48 hours`."""
    hours = round(remaining.total_seconds() / 3600)
    if hours < 1:
        return "less than an hour"
    return counted(hours, "hour")


def moment_in_words(moment: datetime) -> str:
    """Return a moment anywhere on earth and in UTC."""
    there = format_date(moment.astimezone(ANYWHERE_ON_EARTH), "j F Y, H:i")
    return f"{there} anywhere on earth ({format_date(moment.astimezone(UTC), 'j F Y, H:i')} UTC)"
