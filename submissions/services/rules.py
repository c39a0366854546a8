"""The rules for submitting and changing runs: role, deadline, quota and tags."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from arqkit.standings import FLAGS
from arqlab.audit.services.recording import record_event
from arqlab.core.errors import ConfirmationError, UserError
from arqlab.core.models import Lab, Task, Team, User
from arqlab.labs.permissions import may_organize
from arqlab.teams.permissions import is_team_member
from arqlab.teams.selectors import team_key
from arqlab.web import counted, utc_text
from submissions.models import Run, RunProblem
from submissions.selectors import quotas_of
from submissions.services.run_metadata import TAG_LENGTH, lab_teams_in_names

LISTED = (
    *("team", "tag", "data_used", "is_baseline", "out_of_competition"),
    *(flag.field for flag in FLAGS),
)
"""The fields of a run that leaderboards list, and whose change needs a reason after a release."""

NOT_IN_IDS = re.compile(r"[\s:]+")
"""What the id of an answer in qrels, `RUN:TOPIC` between blanks, cannot contain."""

OTHER_TEAM = "An identical run was already submitted to this task. The organizers can see both."


def require_reason(run: Run, reason: str, *, changed: Iterable[str] = LISTED) -> None:
    """Raise `UserError` without a reason if a released leaderboard lists what is changed."""
    if not reason.strip() and not set(LISTED).isdisjoint(changed) and run.is_released:
        raise UserError(
            f"{run.tag} is on a released leaderboard, which keeps what it lists. Enter a reason "
            "for the change, which everyone reads beside the run.",
            code="reason",
        )


def demote_primary_run(run: Run, *, by: User | None) -> None:
    """Make the team's current primary run an alternate run, so that `run` can take its place.

    Baselines keep their marks. Call this for another run, in the transaction that makes it primary.
    """
    # Lock the team: when two runs become primary at once, one waits here.
    Team.objects.select_for_update().get(pk=run.team_id)
    earlier = Run.objects.valid().filter(
        task=run.task_id, team=run.team_id, is_primary=True, is_baseline=False
    )
    for other in earlier.exclude(pk=run.pk).select_related("team"):
        Run.objects.filter(pk=other.pk).update(is_primary=False)
        reason = f"{run.tag} became the primary run."
        record_event("run.alternate", other, by, run=other.pk, gave_way_to=run.pk, reason=reason)


def assign_identifier(run: Run) -> None:
    """Store the identifier of a run that takes part from now on, unless it already has one.

    It is the run's tag, with the primary key if another run of the lab's tasks of this kind has
    that identifier: the pool of Task 1 may contain the answers of several tasks. It never changes.
    Call this in the transaction that makes the run take part.
    """
    # Lock the lab: of two runs with the same tag, the second waits and then finds the first.
    Lab.objects.select_for_update(no_key=True).get(pk=run.task.lab_id)
    run.refresh_from_db(fields=["identifier", "tag"])
    if run.identifier:
        return
    named = Run.objects.filter(task__lab=run.task.lab_id, task__kind=run.task.kind)
    identifiers = set(named.values_list("identifier", flat=True))
    identifier = NOT_IN_IDS.sub("_", run.tag)
    while identifier in identifiers:
        identifier = f"{identifier}-{run.pk}"
    Run.objects.filter(pk=run.pk).update(identifier=identifier)


def set_warning(run: Run, kind: str, message: str, todo: str) -> None:
    """Add a warning to the report of a checked run, instead of an earlier one of its kind.

    An empty message only removes that one.
    """
    run.problems.filter(kind=kind).delete()
    if message:
        RunProblem.objects.create(
            run=run,
            position=run.problems.count(),
            kind=kind,
            severity=RunProblem.Level.WARNING,
            count=1,
            message=message,
            todo=todo,
        )


def warn_of_identical_runs(run: Run) -> None:
    """Add a warning to the report of a checked run if a valid run of the task has the same bytes.

    The warning names only runs of the same team: a team must not learn whose run is like its own.
    """
    run.refresh_from_db(fields=["sha256"])
    same = Run.objects.scorable().filter(task=run.task_id, sha256=run.sha256).exclude(pk=run.pk)
    pairs = same.exclude(sha256="").order_by("tag").values_list("tag", "team")
    team_tags = [tag for tag, team in pairs if team == run.team_id]
    sentences = (
        [f"Your team already submitted an identical run: {', '.join(team_tags)}."]
        if team_tags
        else []
    )
    if len(team_tags) < len(pairs):
        sentences.append(OTHER_TEAM)
    todo = "Check that you uploaded the right file."
    set_warning(run, "identical-run", " ".join(sentences), todo)


@dataclass(frozen=True)
class Sender:
    """A user who acts for a team in a task at a time. `by` is None for a command on the server.

    `loads` tells that an organizer loads runs, which neither a deadline nor a quota binds, and
    whose tags the load has checked with those of all its runs. `key` is that of the request.
    """

    task: Task
    team: Team
    by: User | None
    at: datetime
    loads: bool = False
    key: UUID | None = None

    @property
    def organizes(self) -> bool:
        """Return whether the user is an organizer, whom deadlines do not bind."""
        return self.by is not None and may_organize(self.by, self.task.lab)

    @property
    def is_post_hoc(self) -> bool:
        """Return whether a run that the user submits now is post-hoc; never for organizers."""
        return not self.organizes and self.task.takes_post_hoc(self.at)

    @property
    def has_organizer_rights(self) -> bool:
        """Return whether the sender is an organizer or a command on the server."""
        return self.by is None or self.organizes


def require_role(sender: Sender) -> None:
    """Raise `UserError` if the user is neither a member of the team nor an organizer."""
    if sender.team.lab_id != sender.task.lab_id:
        raise UserError(
            f"Team {sender.team.name} belongs to another lab. Choose a team of "
            f"{sender.task.lab.name}.",
            code="role",
        )
    if not sender.has_organizer_rights and not (
        sender.by and is_team_member(sender.by, sender.team)
    ):
        raise UserError(
            f"You are not a member of team {sender.team.name}. Ask one of its members for the "
            "invitation link.",
            code="role",
        )


def require_organizer(sender: Sender) -> None:
    """Raise `UserError` if the user may not do what only organizers do with a run."""
    if not sender.has_organizer_rights:
        raise UserError(
            "Only organizers can mark runs as baselines or as out of competition, and retry a "
            "check. Ask an organizer.",
            code="role",
        )


def require_named_team(team: Team, *, names: Iterable[str], confirmed: bool | str) -> None:
    """Raise `ConfirmationError` if the names of the run files contain another team of the lab.

    `confirmed` is True, or the question of an earlier error that the user answered. Names are
    compared without case, spaces and punctuation; a name without a team matches every team.
    """
    names_found = lab_teams_in_names(team.lab, names)
    others = [name for name in names_found if team_key(name) != team_key(team.name)]
    named = ", ".join(others)
    says = "file name says" if len(others) == 1 else "file names say"
    question = f"Upload for {team.name} although the {says} {named}"
    if others and confirmed is not True and confirmed != question:
        raise ConfirmationError(
            f"The {says} {named}, but you chose team {team.name}. Choose the right team, or "
            f"confirm that the runs are from {team.name}.",
            code="team-differs",
            question=question,
        )


def require_open(sender: Sender, *, post_hoc: bool) -> None:
    """Raise `UserError` before the task opens and after its deadline, except for organizers.

    Post-hoc runs are accepted after the deadline if the task takes them.
    """
    task, state = sender.task, sender.task.state(sender.at)
    if sender.organizes or state == "open" or (post_hoc and sender.is_post_hoc):
        return
    if state == "upcoming" and task.opens_at:
        raise UserError(
            f"{task.name} opens on {utc_text(task.opens_at)}. Submit your run then. You can check "
            "a file now.",
            code="upcoming",
        )
    closed_on = f" on {utc_text(task.closes_at)}" if task.closes_at else ""
    raise UserError(
        f"{task.name} closed{closed_on}. Ask an organizer of {task.lab.name} to submit a late run.",
        code="closed",
    )


def require_quota(sender: Sender, *, runs: int) -> None:
    """Raise `UserError` for more runs than the team's quota has left.

    Locks the team's row until the transaction ends, so that simultaneous uploads see each other.
    """
    team = Team.objects.select_for_update().get(pk=sender.team.pk)
    [quota] = quotas_of([team], sender.task, post_hoc=sender.is_post_hoc)
    if runs > quota.left:
        kind = "post-hoc run" if sender.is_post_hoc else "run"
        raise UserError(
            f"You submitted {counted(runs, kind)}, but team {sender.team.name} has only "
            f"{quota.left} of its {quota.most} {kind}s left for {sender.task.name}. Withdraw a run "
            "or submit fewer.",
            code="quota",
        )


def require_tags(tags: Iterable[str]) -> None:
    """Raise `UserError` for a tag that a leaderboard cannot show: empty, too long, unprintable."""
    for tag in tags:
        if not tag.strip() or len(tag) > TAG_LENGTH or not tag.isprintable():
            raise UserError(
                f"The run tag {tag[:TAG_LENGTH]!r} is not valid. Choose a tag of 1 to {TAG_LENGTH} "
                "characters on one line.",
                code="tag",
            )


def require_free_tags(sender: Sender, *, tags: list[str]) -> None:
    """Raise `UserError` for a tag that the team already uses in the task or that `tags` repeats.

    Locks the team's row as `require_quota` does, which is not called for baselines.
    """
    Team.objects.select_for_update().get(pk=sender.team.pk)
    used_tags = set(
        Run.objects.holding_tags()
        .filter(task=sender.task, team=sender.team, tag__in=tags)
        .values_list("tag", flat=True)
    )
    twice = used_tags | {tag for tag in tags if tags.count(tag) > 1}
    if twice:
        raise UserError(
            f"Team {sender.team.name} would have two runs with the tag {', '.join(sorted(twice))} "
            f"in {sender.task.name}. Give each run its own tag, or withdraw the earlier run.",
            code="tag-taken",
        )


def require_submission(sender: Sender, *, tags: list[str], baseline: bool) -> None:
    """Check all rules for a submission: role, deadline, quota and tags. Baselines need no quota.

    Raise `UserError` for the first broken rule. Call this in the transaction that adds the runs.
    """
    require_role(sender)
    if baseline:
        if not sender.has_organizer_rights:
            raise UserError(
                "Only organizers can add baselines. Submit the file as a run of your team.",
                code="role",
            )
    elif not sender.loads:
        require_open(sender, post_hoc=True)
        require_quota(sender, runs=len(tags))
    if not sender.loads:
        require_free_tags(sender, tags=tags)


def require_change(sender: Sender, run: Run) -> None:
    """Check the rules for a change of a submitted run: role and deadline."""
    require_role(sender)
    require_open(sender, post_hoc=run.is_post_hoc)
