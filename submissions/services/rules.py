"""When a team may submit or change a run: deadline, quota and role, for every door alike."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from arqlab.core.errors import UserError
from arqlab.core.models import Task, Team, User
from arqlab.core.permissions import is_team_member, may_organize
from submissions.models import Run
from submissions.selectors import quota_left
from submissions.services.run_metadata import TAG_LENGTH


@dataclass(frozen=True)
class Sender:
    """For which team somebody acts on which task, and when. `by` is None for a command on the lab's
    own machine.
    """

    task: Task
    team: Team
    by: User | None
    at: datetime

    @property
    def organizes(self) -> bool:
        """Return whether the person runs the lab: deadlines bind teams, not organizers."""
        return self.by is not None and may_organize(self.by, self.task.lab)

    @property
    def commands(self) -> bool:
        """Return whether the sender may do what organizers alone may: they do, and so does the lab's
        own machine.
        """
        return self.by is None or self.organizes


def moment(at: datetime) -> str:
    """Return a moment as people read it, such as `3 May 2022, 11:59 UTC`."""
    return f"{at.day} {at:%B %Y, %H:%M} UTC"


def require_role(sender: Sender) -> None:
    """Refuse who neither belongs to the team nor runs the lab."""
    if sender.team.lab_id != sender.task.lab_id:
        raise UserError(
            f"Team {sender.team.name} belongs to another lab. Choose a team of {sender.task.lab.name}.",
            code="role",
        )
    if not sender.commands and not (sender.by and is_team_member(sender.by, sender.team)):
        raise UserError(
            f"You are not a member of team {sender.team.name}. Ask one of its members for the invitation link.",
            code="role",
        )


def require_open(sender: Sender) -> None:
    """Refuse a team before the task opens and after its deadline; organizers may act at any time."""
    task, state = sender.task, sender.task.state(sender.at)
    if sender.organizes or state == "open":
        return
    if state == "upcoming" and task.opens_at:
        raise UserError(
            f"{task.name} opens on {moment(task.opens_at)}. Submit from then on; a file can be checked already now.",
            code="upcoming",
        )
    closed_on = f" on {moment(task.deadline)}" if task.deadline else ""
    raise UserError(
        f"{task.name} closed{closed_on}. Ask an organizer of {task.lab.name} about a late run.",
        code="closed",
    )


def require_quota(sender: Sender, *, runs: int) -> None:
    """Refuse more runs than the team has left.

    Locks the team's row until the transaction ends, so that of two uploads at once the second sees
    the first.
    """
    Team.objects.select_for_update().get(pk=sender.team.pk)
    left, quota = quota_left(team=sender.team, task=sender.task), sender.task.protocol.quota
    if runs > left:
        asked = "1 run was sent" if runs == 1 else f"{runs} runs were sent"
        raise UserError(
            f"{asked}, and team {sender.team.name} has {left} of its {quota} runs for {sender.task.name} left. "
            "Withdraw a run to make room, or send fewer.",
            code="quota",
        )


def require_tags(tags: Iterable[str]) -> None:
    """Refuse a tag that boards cannot show: an empty or very long one, or one with line ends and
    the like in it.
    """
    for tag in tags:
        if not tag.strip() or len(tag) > TAG_LENGTH or not tag.isprintable():
            raise UserError(
                f"The run tag {tag[:TAG_LENGTH]!r} cannot be used. Give the run a tag of 1 to {TAG_LENGTH} characters on "
                "one line.",
                code="tag",
            )


def require_free_tags(sender: Sender, *, tags: list[str]) -> None:
    """Refuse a tag that the team already uses in this task, or that two of the sent files share.

    Locks the team's row, as `require_quota` does: baselines come here without it.
    """
    Team.objects.select_for_update().get(pk=sender.team.pk)
    taken = set(
        Run.objects.submitted()
        .filter(task=sender.task, team=sender.team, withdrawn_at=None, tag__in=tags)
        .exclude(status=Run.Status.INVALID)
        .values_list("tag", flat=True)
    )
    twice = taken | {tag for tag in tags if tags.count(tag) > 1}
    if twice:
        raise UserError(
            f"Team {sender.team.name} would have two runs with the tag {', '.join(sorted(twice))} in {sender.task.name}. "
            "Give each run a tag of its own, or withdraw the earlier one.",
            code="tag-taken",
        )


def require_submission(sender: Sender, *, tags: list[str], baseline: bool) -> None:
    """Hold all rules for runs that are about to take part: role, deadline, tags, and the quota of
    what is no baseline.

    Raises `UserError` with the first rule that refuses them. Call it inside the transaction that
    adds the runs.
    """
    require_role(sender)
    if baseline:
        if not sender.commands:
            raise UserError(
                "Only organizers add baselines. Submit it as a run of your team.", code="role"
            )
    else:
        require_open(sender)
        require_quota(sender, runs=len(tags))
    require_free_tags(sender, tags=tags)


def require_change(sender: Sender) -> None:
    """Hold the rules for a change of a submitted run, such as its primary mark: role and deadline."""
    require_role(sender)
    require_open(sender)
