"""Changes to an uploaded run: metadata, primary mark, system, team, withdrawal, submission."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from uuid import uuid4

from django.db import transaction

from arqkit.formats.archives.uploads import UploadRefusedError
from arqkit.standings import OUT_OF_COMPETITION, SET_BY_ORGANIZERS
from arqlab.audit.services.recording import record_event, save_changes
from arqlab.core.errors import UserError
from arqlab.core.models import Task, Team, User
from arqlab.teams.services import lab_team
from submissions.models import Run
from submissions.permissions import linkable_runs
from submissions.selectors import quotas_of, repaired_file
from submissions.services.answer_ids import join_answer_ids
from submissions.services.rules import (
    Sender,
    assign_identifier,
    demote_primary_run,
    require_change,
    require_free_tags,
    require_organizer,
    require_quota,
    require_reason,
    require_role,
    require_submission,
    require_tags,
    warn_of_identical_runs,
)
from submissions.services.run_metadata import RunMetadata
from submissions.services.uploads import take_uploads

PUBLICATION = ("paper", "code", "citation", "retrieval_times")
"""What a team may add to a run at any time."""


@transaction.atomic
def link_runs(*, run: Run, links: Mapping[int, bool], by: User, at: datetime) -> None:
    """Link a run with others as runs of one system; runs that are left out are unlinked.

    `links` maps the key of each run, including `run`, to whether the system was trained on the
    topics of its task. A run that was linked elsewhere leaves its system. Raise `UserError` for a
    user outside the team, for a run that the user may not link, and for two runs of one task.
    """
    require_role(Sender(run.task, run.team, by, at))
    others = {other.pk: other for other in linkable_runs(by, run)}
    if unknown := links.keys() - others.keys() - {run.pk}:
        raise UserError(
            f"{len(unknown)} of the chosen runs cannot be linked. Choose valid runs of your teams "
            "in other tasks of the same kind.",
            code="system",
        )
    linked = [others[key] for key in links if key != run.pk]
    tasks = Counter(f"{other.task.lab.name}, {other.task.name}" for other in linked)
    if twice := [name for name, count in tasks.items() if count > 1]:
        raise UserError(
            f"A system has one run per task. Choose one run of {'; '.join(twice)}.", code="system"
        )
    if run.system is not None:
        Run.objects.filter(pk__in=[run.pk, *others], system=run.system).update(
            system=None, is_trained=False
        )
    system = uuid4() if linked else None
    for key, is_trained in links.items():
        Run.objects.filter(pk=key).update(system=system, is_trained=is_trained)
    record_event(
        "run.link",
        run,
        by,
        task=run.task.slug,
        run=run.pk,
        linked=sorted(other.pk for other in linked),
    )


@transaction.atomic
def move_run(*, run: Run, team: Team, by: User | None, at: datetime, reason: str = "") -> list[str]:
    """Move a run to another team of its lab. Return sentences about what changed besides the team.

    Its identifier, labels and scores stay. It never takes the place of the other team's primary
    run: it becomes an alternate run then. A run of the lab itself is a baseline. Raise `UserError`
    for a user who is not an organizer, for a team of another lab or the same team, if the other
    team uses the tag or its whole quota, and for a released run without a reason.
    """
    sender = Sender(run.task, team, by, at)
    _require_movable(sender, run)
    require_reason(run, reason)
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
    _record("run.move", current, by, **teams, reason=reason.strip())
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
    [quota] = quotas_of([sender.team], sender.task, post_hoc=run.is_post_hoc)
    if not run.is_baseline and not quota.left:
        raise UserError(
            f"Team {sender.team.name} has used all of its {quota.most} runs for "
            f"{sender.task.name}. Withdraw one of its runs, or raise the quota of the task.",
            code="quota",
        )


def _primary_run(task: Task, team: Team) -> Run | None:
    primary = Run.objects.valid().filter(task=task, team=team, is_primary=True, is_baseline=False)
    return primary.first()


@transaction.atomic
def mark_primary(*, run: Run, by: User | None, at: datetime) -> None:
    """Make a valid run the team's primary run and the earlier primary run an alternate.

    Raise `UserError` after the deadline, for outsiders, if it is not valid and submitted, and for a
    released run, which `correct_run` changes with a reason.
    """
    require_change(_sender(run, by, at), run)
    require_reason(run, "")
    if not (run.is_baseline or run.is_post_hoc):
        demote_primary_run(run, by=by)
    if not Run.objects.valid().filter(pk=run.pk).update(is_primary=True):
        raise UserError(
            f"Run {run.tag} cannot be primary. Choose a valid run that was submitted in time.",
            code="state",
        )
    _record("run.primary", run, by)


@transaction.atomic
def correct_run(
    *, run: Run, metadata: RunMetadata, by: User | None, at: datetime, reason: str = ""
) -> bool:
    """Store changed metadata of a run. Return whether the run now waits for another validation.

    It does when the item type of an invalid run changes. Raise `UserError` after the deadline, for
    a user outside the team, for a withdrawn run, for a tag that the team already uses, for another
    item type of a valid run, whose index and scores depend on it, and without a `reason` if a
    released leaderboard lists what changes.
    """
    sender = _sender(run, by, at)
    _require_correctable(sender, run, metadata)
    changed = {
        name: value for name, value in asdict(metadata).items() if value != getattr(run, name)
    }
    stated = reason.strip() or str(changed.get(OUT_OF_COMPETITION.field, ""))
    require_reason(run, stated, changed=changed)
    if metadata.is_baseline and not run.is_baseline:
        changed["team"] = lab_team(run.task.lab)
    if (
        metadata.is_primary
        and run.status == Run.Status.VALID
        and not (run.check_only or metadata.is_baseline)
    ):
        demote_primary_run(run, by=by)
    Run.objects.filter(pk=run.pk).update(**changed)
    if changed:
        _record("run.correct", run, by, fields=sorted(changed), reason=stated)
    return "items" in changed and _wait_again(sender, run, metadata)


@transaction.atomic
def publish_run(*, run: Run, publication: Mapping[str, str], by: User | None, at: datetime) -> None:
    """Store the addresses of a run's paper and code, its citation and its times, at any time.

    Raise `UserError` for a user outside the team.
    """
    require_role(_sender(run, by, at))
    # Lock the run: the log must record the values that these replace.
    locked = Run.objects.select_for_update().get(pk=run.pk)
    if changes := save_changes(locked, publication, allowed=PUBLICATION):
        _record("run.publish", run, by, changes=changes)


@transaction.atomic
def withdraw_run(*, run: Run, reason: str, by: User | None, at: datetime) -> None:
    """Withdraw a run from pools and leaderboards, at any time. Keep its file, report and reason.

    Raise `UserError` without a reason, for outsiders, and if it is withdrawn or was only checked.
    """
    require_role(_sender(run, by, at))
    if not reason.strip():
        raise UserError(
            "Enter a reason for the withdrawal. It is stored with the run.", code="reason"
        )
    submitted = Run.objects.submitted().filter(pk=run.pk, withdrawn_at=None)
    if not submitted.update(withdrawn_at=at, withdrawn_by=by, withdrawal_reason=reason.strip()):
        raise UserError(
            f"Run {run.tag} cannot be withdrawn because it was never submitted or is already "
            "withdrawn.",
            code="state",
        )
    join_answer_ids(run.task)
    _record("run.withdraw", run, by, reason=reason.strip())


@transaction.atomic
def submit_checked_run(*, run: Run, by: User | None, at: datetime) -> None:
    """Turn a run that was only checked into a submission, without another upload.

    Raise `UserError` if a rule refuses it, if its check found errors, or if it is submitted.
    """
    sender = _sender(run, by, at)
    require_submission(sender, tags=[run.tag], baseline=run.is_baseline)
    is_post_hoc = sender.is_post_hoc and not run.is_baseline
    run.is_primary = run.is_primary and not is_post_hoc
    if run.is_primary and run.status == Run.Status.VALID and not run.is_baseline:
        demote_primary_run(run, by=by)
    assign_identifier(run)
    checked = Run.objects.filter(pk=run.pk, check_only=True).exclude(status=Run.Status.INVALID)
    marks = {"is_post_hoc": is_post_hoc, "is_primary": run.is_primary}
    if not checked.update(check_only=False, submitted_at=at, submitted_by=by, **marks):
        raise UserError(
            f"Run {run.tag} cannot be submitted because it has errors or is already submitted. "
            "Upload a corrected file.",
            code="state",
        )
    warn_of_identical_runs(run)
    join_answer_ids(run.task)
    _record("run.submit", run, by, file=run.file_name)


def take_repaired(*, run: Run, by: User, at: datetime, check_only: bool = False) -> list[Run]:
    """Store the repaired file of a run as a new run with its details, as `take_uploads` does.

    Raise `UserError` if nothing can be repaired.
    """
    try:
        repaired = repaired_file(run)
    except UploadRefusedError:
        repaired = None
    if repaired is None:
        raise UserError(f"Nothing in the file of {run.tag} can be repaired.", code="state")
    return take_uploads(
        files=[repaired],
        sender=Sender(run.task, run.team, by, at),
        metadata={str(repaired.name): metadata_of(run)},
        check_only=check_only,
    )


def metadata_of(run: Run) -> RunMetadata:
    """Return what a team can correct about a run, as it is stored."""
    return RunMetadata(**{name: getattr(run, name) for name in RunMetadata.__dataclass_fields__})


def _require_correctable(sender: Sender, run: Run, metadata: RunMetadata) -> None:
    require_tags([metadata.tag])
    if run.withdrawn_at:
        raise UserError(
            f"Run {run.tag} was withdrawn. You can no longer edit its details.", code="state"
        )
    _require_standing(sender, run, metadata)
    if metadata.items != run.items and run.status != Run.Status.INVALID:
        raise UserError(
            "You can change the item type only while the run has errors, because its index and "
            "scores depend on the type. Withdraw the run and submit the file again.",
            code="state",
        )
    if run.check_only:
        require_role(sender)
        return
    require_change(sender, run)
    if metadata.is_primary and run.is_post_hoc:
        raise UserError(f"Run {run.tag} is a post-hoc run, which cannot be primary.", code="state")
    if metadata.tag != run.tag:
        require_free_tags(sender, tags=[metadata.tag])
    if run.is_baseline and not metadata.is_baseline:
        require_quota(sender, runs=1)


def _require_standing(sender: Sender, run: Run, metadata: RunMetadata) -> None:
    names = [standing.field for standing in SET_BY_ORGANIZERS]
    if any(getattr(metadata, name) != getattr(run, name) for name in names):
        require_organizer(sender)
    if run.team.is_lab and not metadata.is_baseline:
        raise UserError(
            f"Run {run.tag} belongs to the lab. Move it to a team if it is not a baseline.",
            code="state",
        )


def _wait_again(sender: Sender, run: Run, metadata: RunMetadata) -> bool:
    """Queue an invalid run, which may become valid. Return whether it was invalid."""
    if not run.check_only:
        require_submission(sender, tags=[metadata.tag], baseline=metadata.is_baseline)
    refused = Run.objects.filter(pk=run.pk, status=Run.Status.INVALID)
    return bool(refused.update(status=Run.Status.UPLOADED, status_changed_at=sender.at, attempts=0))


def retry_run(*, run: Run, by: User, at: datetime) -> None:
    """Let a run that waits after a fault of the server be checked now. The caller queues it."""
    require_organizer(_sender(run, by, at))
    Run.objects.filter(pk=run.pk, status=Run.Status.UPLOADED).update(attempts=0)


def _sender(run: Run, by: User | None, at: datetime) -> Sender:
    return Sender(run.task, run.team, by, at)


def _record(verb: str, run: Run, by: User | None, **detail: object) -> None:
    record_event(verb, run, by, task=run.task.slug, run=run.pk, **detail)
