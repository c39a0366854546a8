"""Moving a run to another team, by organizers."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from arqlab.core.errors import UserError
from arqlab.core.models import Task, Team, User
from arqlab.core.services.audit import record_event
from submissions.models import Run
from submissions.selectors import quota_left
from submissions.services.identical import warn_of_identical_runs
from submissions.services.rules import Sender, require_free_tags


@transaction.atomic
def move_run(*, run: Run, team: Team, by: User | None, at: datetime) -> list[str]:
    """Move a run to another team of its lab. Return sentences about what changed besides the team.

    Its identifier, labels and scores stay. It never takes the place of the other team's primary
    run: it becomes an alternate run then. Moved to the lab itself, it becomes a baseline; moved
    from the lab to a team, it is no longer one.

    Raise `UserError` for a user who is not an organizer, for a team of another lab or the same
    team, and if the other team uses the tag or its whole quota.
    """
    sender = Sender(run.task, team, by, at)
    _require_movable(sender, run)
    # Lock both teams in the same order: the quotas and primary runs of both may change.
    list(Team.objects.select_for_update().filter(pk__in=[team.pk, run.team_id]).order_by("pk"))
    current = Run.objects.select_related("team").get(pk=run.pk)
    if takes_part := not (
        current.check_only or current.withdrawn_at or current.status == "invalid"
    ):
        require_free_tags(sender, tags=[current.tag])
    current.is_baseline = team.is_lab or (current.is_baseline and not current.team.is_lab)
    if takes_part:
        _require_place(sender, current)
    is_teams_primary = current.is_primary and not current.is_baseline
    other = _primary_run(run.task, team) if is_teams_primary else None
    is_primary = current.is_primary and other is None
    Run.objects.filter(pk=run.pk).update(
        team=team, is_primary=is_primary, is_baseline=current.is_baseline
    )
    teams = {"before": current.team.name, "after": team.name}
    record_event(
        verb="run.move",
        target=current,
        lab=run.task.lab,
        actor=by,
        task=run.task.slug,
        run=run.pk,
        **teams,
    )
    run.refresh_from_db(fields=["team", "is_primary", "is_baseline"])
    notes = []
    if takes_part:
        warn_of_identical_runs(run)
        if is_teams_primary and not _primary_run(run.task, current.team):
            notes.append(f"Team {current.team.name} has no primary run now.")
    if other:
        notes.append(f"It is an alternate run now: {other.tag} is the primary run of {team.name}.")
    return notes


def _require_movable(sender: Sender, run: Run) -> None:
    if not sender.has_organizer_rights:
        raise UserError(
            "Only organizers can move runs to other teams. Ask an organizer.", code="role"
        )
    if sender.team.lab_id != run.task.lab_id or sender.team.pk == run.team_id:
        raise UserError(
            f"Run {run.tag} cannot be moved to team {sender.team.name}. Choose another team of "
            f"{run.task.lab.name}.",
            code="team",
        )


def _require_place(sender: Sender, run: Run) -> None:
    left = quota_left(team=sender.team, task=sender.task, post_hoc=run.is_post_hoc)
    if not run.is_baseline and not left:
        quota = sender.task.protocol.quota
        raise UserError(
            f"Team {sender.team.name} has no run left of its {quota} for {sender.task.name}. "
            "Withdraw one of its runs, or raise the quota of the task.",
            code="quota",
        )


def _primary_run(task: Task, team: Team) -> Run | None:
    primary = Run.objects.valid().filter(task=task, team=team, is_primary=True, is_baseline=False)
    return primary.first()
