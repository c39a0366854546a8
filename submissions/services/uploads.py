"""Taking files in: what was sent is kept as it is, and every run in it waits to be validated."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any, BinaryIO, cast

from django.conf import settings
from django.core.files import File
from django.db import transaction
from django.template.defaultfilters import filesizeformat

from arqlab.core.errors import UserError
from arqlab.core.models import Task, Team, User
from arqlab.core.services.audit import record_event
from arqlab.formats.archives.uploads import UploadRefusedError, zip_members
from submissions.models import Run, Upload
from submissions.services.rules import Sender, require_role, require_submission, require_tags
from submissions.services.run_metadata import RunMetadata, metadata_from_name

NAME_LENGTH = 255


class HashedFile(File):
    """A file on its way to the storage; its sha256 is known when the last byte went by."""

    def __init__(self, file: File) -> None:
        super().__init__(file, name=file.name)
        self.hash = hashlib.sha256()

    def chunks(self, chunk_size: int | None = None) -> Iterator[bytes]:
        """Return the bytes piece by piece, and take their hash."""
        for chunk in super().chunks(chunk_size):
            self.hash.update(chunk)
            yield chunk


@transaction.atomic
def submit_upload(
    *,
    file: File,
    task: Task,
    team: Team,
    by: User | None,
    at: datetime,
    metadata: Mapping[str, RunMetadata] | None = None,
) -> list[Run]:
    """Take a file in as a submission: one run for it, or one for each member of a zip.

    `metadata` hold what is said of each run by its file's name; what they lack is read out of the
    name. An archive that cannot be listed is kept as one run, whose report will say what it is. The
    door has the runs validated. Raises `UserError` when a rule (role, deadline, quota, tags)
    refuses it; nothing is stored then.
    """
    sender = Sender(task, team, by, at)
    require_size(file)
    said = metadata_by_member(file, metadata or {})
    baselines = [own for own in said.values() if own.is_baseline]
    ours = [own for own in said.values() if not own.is_baseline]
    for group in (baselines, ours):
        if group:
            require_submission(sender, tags=[own.tag for own in group], baseline=group is baselines)
    runs = _create_runs(sender, file, said, check_only=False)
    for run in runs:
        record_event(
            verb="run.submit",
            target=run,
            lab=task.lab,
            actor=by,
            task=task.slug,
            run=run.pk,
            file=run.file_name,
        )
    return runs


@transaction.atomic
def check_upload(
    *,
    file: File,
    task: Task,
    team: Team,
    by: User | None,
    at: datetime,
    metadata: Mapping[str, RunMetadata] | None = None,
) -> list[Run]:
    """Take a file in only to be checked: it takes no part and no place of the quota, before and
    after the deadline too.

    Raises `UserError` when the person is neither of the team nor an organizer.
    """
    sender = Sender(task, team, by, at)
    require_role(sender)
    require_size(file)
    return _create_runs(sender, file, metadata_by_member(file, metadata or {}), check_only=True)


def require_size(file: File) -> None:
    """Refuse a file that is larger than any run may be when unpacked: the storage is for runs.

    Raises `UserError`.
    """
    if file.size > settings.RUN_MAX_BYTES:
        raise UserError(
            f"{file.name} has {filesizeformat(file.size)}; a file of runs has at most "
            f"{filesizeformat(settings.RUN_MAX_BYTES)}. Look whether it is the file that you meant to send.",
            code="size",
        )


def metadata_by_member(file: File, metadata: Mapping[str, RunMetadata]) -> dict[str, RunMetadata]:
    """Return what is said of every run in a file, by the name inside the archive; "" stands for the
    file itself.

    `metadata` go by the name that a person sees: the member's, or the file's. Raises `UserError` for
    a name or a tag that cannot be kept.
    """
    shown = {member: member or str(file.name) for member in zip_member_paths(file) or [""]}
    if long := next((member for member in shown if len(member) > NAME_LENGTH), None):
        raise UserError(
            f"The zip has a file whose path is longer than {NAME_LENGTH} characters: {long[:60]}… Shorten it.",
            code="name",
        )
    said = {
        member: metadata.get(name) or metadata_from_name(name) for member, name in shown.items()
    }
    require_tags(own.tag for own in said.values())
    return said


def metadata_by_name(file: File, **given: Any) -> dict[str, RunMetadata]:
    """Return metadata for every run in a file, by its shown name: what is given, the rest read out of
    its name.
    """
    names = zip_member_paths(file) or [str(file.name)]
    return {name: replace(metadata_from_name(name), **given) for name in names}


def zip_member_paths(file: File) -> list[str]:
    """Return the paths of the run files in a zip, from its table of contents; none for any other
    file.

    A zip that cannot be listed gives none either: it is kept, and validation says what is wrong
    with it.
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
    sender: Sender, file: File, said: Mapping[str, RunMetadata], *, check_only: bool
) -> list[Run]:
    upload = _store(file, by=sender.by, at=sender.at)
    return [
        Run.objects.create(
            task=sender.task,
            team=sender.team,
            upload=upload,
            member=member,
            check_only=check_only,
            submitted_by=sender.by,
            submitted_at=sender.at,
            status_changed_at=sender.at,
            **own.as_fields(),
        )
        for member, own in said.items()
    ]


def _store(file: File, *, by: User | None, at: datetime) -> Upload:
    """Keep a file as it was sent; its sha256 is taken while the bytes go to the storage."""
    # A name that is not UTF-8 comes from the file system with signs that no database takes.
    name = PurePosixPath(str(file.name)).name[-NAME_LENGTH:].encode(errors="replace").decode()
    sent = HashedFile(file)
    upload = Upload(name=name, uploaded_by=by, uploaded_at=at)
    # The stored name only reminds of the sent one, which may be longer than a folder takes or hold
    # anything.
    upload.file.save(
        re.sub(r"[^A-Za-z0-9._-]", "_", name).strip(".")[-60:] or "run", sent, save=False
    )
    upload.sha256, upload.size = sent.hash.hexdigest(), upload.file.size
    upload.save()
    return upload
