"""Uploads of run files: the file is stored unchanged, and every run in it waits for validation."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any, BinaryIO, TypedDict, Unpack, cast

from django.conf import settings
from django.core.files import File
from django.db import IntegrityError, transaction
from django.template.defaultfilters import filesizeformat

from arqkit.formats.archives.uploads import ZIP, UploadRefusedError, first_bytes, zip_members
from arqkit.standings import SET_BY_ORGANIZERS
from arqlab.audit.services.recording import record_event
from arqlab.core.errors import UserError
from arqlab.core.files import sha256_of
from arqlab.core.models import Task, Team, User
from arqlab.teams.services import lab_team
from submissions.models import Run, Upload
from submissions.selectors import file_limits
from submissions.services.rules import (
    Sender,
    require_organizer,
    require_role,
    require_submission,
    require_tags,
)
from submissions.services.run_metadata import RunMetadata, metadata_from_name
from submissions.services.storage import require_room

NAME_LENGTH = 255


class _Sent(TypedDict):
    """The fields of `Sender` that an upload without a request has."""

    task: Task
    team: Team
    by: User | None
    at: datetime


def submit_upload(
    *, file: File, metadata: Mapping[str, RunMetadata] | None = None, **sent: Unpack[_Sent]
) -> list[Run]:
    """Store a file as a submission, as `take_uploads` does; `sent` are fields of `Sender`."""
    return take_uploads(files=[file], sender=Sender(**sent), metadata=metadata)


def check_upload(
    *, file: File, metadata: Mapping[str, RunMetadata] | None = None, **sent: Unpack[_Sent]
) -> list[Run]:
    """Store a file only to check it, as `take_uploads` does; `sent` are fields of `Sender`."""
    return take_uploads(files=[file], sender=Sender(**sent), metadata=metadata, check_only=True)


def take_once(
    *, file: File, sender: Sender, metadata: Mapping[str, RunMetadata], check_only: bool
) -> tuple[list[Run], bool]:
    """Store a file as `take_uploads` does, once for each key of the sender.

    Return its runs, and whether they are new. Raise `UserError` if the key was sent with another
    file or to another task.
    """
    try:
        with transaction.atomic():
            if not (earlier_runs := _runs_of_key(file, sender)):
                runs = take_uploads(
                    files=[file], sender=sender, metadata=metadata, check_only=check_only
                )
                return runs, True
    except IntegrityError:  # the same request was faster
        if not (earlier_runs := _runs_of_key(file, sender)):
            raise
    return earlier_runs, False


def _runs_of_key(file: File, sender: Sender) -> list[Run]:
    if sender.key is None:
        return []
    upload = Upload.objects.filter(uploaded_by=sender.by, key=sender.key).first()
    if upload is None:
        return []
    runs = Run.objects.filter(upload=upload, task=sender.task).select_related("team", "upload")
    if not runs or upload.sha256 != sha256_of(file):
        raise UserError(
            "This Idempotency-Key was sent before with another file or to another task. Send a new "
            "key with each upload.",
            code="key-used",
        )
    return list(runs.order_by("pk"))


@transaction.atomic
def take_uploads(
    *,
    files: Sequence[File],
    sender: Sender,
    metadata: Mapping[str, RunMetadata] | None = None,
    check_only: bool = False,
) -> list[Run]:
    """Store files as a submission: one run each, or one run for each member of a zip.

    `metadata` is keyed by file name; the metadata of other files is read from their names. An
    archive that cannot be listed is stored as one run, whose report names the fault. Files can be
    stored only to be checked, at any time and without counting toward the quota. The caller queues
    the validation. Raise `UserError` and store nothing if a rule (role, and for submissions
    deadline, quota, tags, storage) refuses a run.
    """
    task = sender.task
    if check_only:
        require_role(sender)
    for file in files:
        require_size(file, task)
    require_room(sender, files, check_only=check_only)
    by_file = [_metadata(sender, file, metadata) for file in files]
    for baseline in () if check_only else (True, False):
        sent = [run_metadata for by_member in by_file for run_metadata in by_member.values()]
        tags = [run_metadata.tag for run_metadata in sent if run_metadata.is_baseline == baseline]
        if tags:
            own_sender = replace(sender, team=lab_team(task.lab)) if baseline else sender
            require_submission(own_sender, tags=tags, baseline=baseline)
    runs = [
        run
        for file, by_member in zip(files, by_file, strict=True)
        for run in _create_runs(sender, file, by_member, check_only=check_only)
    ]
    for run in () if check_only else runs:
        record_event("run.submit", run, sender.by, task=task.slug, run=run.pk, file=run.file_name)
    return runs


def _metadata(
    sender: Sender, file: File, metadata: Mapping[str, RunMetadata] | None
) -> dict[str, RunMetadata]:
    """Return the metadata of the runs in a file by path in the archive, "" for a plain file.

    The keys of `metadata` are the names that users see: the path or the file's name. Files of the
    lab itself are baselines. Raise `UserError` for a path or a tag that cannot be stored.
    """
    members = {member: member or str(file.name) for member in zip_member_paths(file) or [""]}
    if long := next((member for member in members if len(member) > NAME_LENGTH), None):
        raise UserError(
            f"The zip contains a file with a path of more than {NAME_LENGTH} characters: "
            f"{long[:60]}… Shorten the path.",
            code="name",
        )
    by_member = {
        member: (metadata or {}).get(name) or metadata_from_name(name)
        for member, name in members.items()
    }
    require_tags(run_metadata.tag for run_metadata in by_member.values())
    names = [standing.field for standing in SET_BY_ORGANIZERS if standing.has_team]
    if any(getattr(run_metadata, name) for run_metadata in by_member.values() for name in names):
        require_organizer(sender)
    if not sender.team.is_lab:
        return by_member
    return {
        member: replace(run_metadata, is_baseline=True)
        for member, run_metadata in by_member.items()
    }


def require_size(file: File, task: Task) -> None:
    """Raise `UserError` for a file that is too large even if it does not have to be unpacked."""
    limit, kind = file_limits(task).max_run_bytes, "run file"
    todo = "Check that you chose the right file."
    if first_bytes(cast(BinaryIO, file)).startswith(ZIP):
        limit, kind, todo = settings.RUN_MAX_BYTES, "zip", "Upload fewer runs at a time."
    if file.size > limit:
        raise UserError(
            f"{file.name} is {filesizeformat(file.size)}; the limit for a {kind} is "
            f"{filesizeformat(limit)}. {todo}",
            code="size",
        )


def metadata_by_name(file: File, **fields: Any) -> dict[str, RunMetadata]:
    """Return the metadata of every run in a file by its name: `fields`, the rest from the name."""
    return {name: replace(metadata_from_name(name), **fields) for name in run_names(file)}


def run_names(file: File) -> list[str]:
    """Return the names of the runs in a file: the paths in a zip, else the file's own name."""
    return zip_member_paths(file) or [str(file.name)]


def zip_member_paths(file: File) -> list[str]:
    """Return the paths of the run files in a zip, or an empty list for any other file.

    The list is also empty for a zip that cannot be read: validation reports what is wrong with it.
    """
    try:
        return zip_members(
            cast(BinaryIO, file), name=str(file.name), max_bytes=settings.RUN_MAX_BYTES
        )
    except UploadRefusedError:
        return []
    finally:
        file.seek(0)


def _create_runs(
    sender: Sender, file: File, by_member: Mapping[str, RunMetadata], *, check_only: bool
) -> list[Run]:
    upload = _store(file, sender)
    if is_post_hoc := sender.is_post_hoc and not check_only:
        by_member = {
            member: run_metadata
            if run_metadata.is_baseline
            else replace(run_metadata, is_primary=False)
            for member, run_metadata in by_member.items()
        }
    return [
        Run.objects.create(
            task=sender.task,
            team=lab_team(sender.task.lab)
            if run_metadata.is_baseline and sender.has_organizer_rights
            else sender.team,
            upload=upload,
            member=member,
            check_only=check_only,
            is_post_hoc=is_post_hoc and not run_metadata.is_baseline,
            submitted_by=sender.by,
            submitted_at=sender.at,
            status_changed_at=sender.at,
            **asdict(run_metadata),
        )
        for member, run_metadata in by_member.items()
    ]


def _store(file: File, sender: Sender) -> Upload:
    # A file name that is not UTF-8 has surrogates, which no database accepts.
    name = PurePosixPath(str(file.name)).name[-NAME_LENGTH:].encode(errors="replace").decode()
    upload = Upload(
        name=name,
        uploaded_by=sender.by,
        uploaded_at=sender.at,
        sha256=sha256_of(file),
        key=sender.key,
    )
    # The uploaded name may be too long for a folder or have any character; the stored name only
    # resembles it.
    upload.file.save(
        re.sub(r"[^A-Za-z0-9._-]", "_", name).strip(".")[-60:] or "run", file, save=False
    )
    upload.size = upload.file.size
    upload.save()
    return upload
