"""What is wrong with this server: its settings, services, queues, files, folders and backups.

Nothing is changed. Each rule is that of its owner: the system checks, the health checks, the
queries by which workers find their work, and the names and checksums in the database.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.core.cache import cache
from django.core.checks import WARNING, run_checks
from django.core.mail import get_connection
from django.db import connection
from django.db.models import Max

from arqlab.core.errors import Fault
from arqlab.core.files import kept, sha256_of
from arqlab.core.models import AuditEvent, Job
from arqlab.core.models.reading import values_in_chunks
from arqlab.core.selectors import named_files
from arqlab.notices.models import Mail
from arqlab.server.services.health import readiness
from collection.services.indexing import unindexed_collections, unindexed_visual_maps
from contrib.operations.services.backups import LAST_BACKUP
from contrib.operations.services.queues import work_queues
from desk.services.load_files import stored_name
from submissions.models import Upload

LONGEST_WAIT = timedelta(minutes=15)
"""How long work may rest before somebody should look."""
RECENT = timedelta(days=7)
"""How long a failure is worth a look."""
OLDEST_BACKUP = timedelta(days=2)
TOLERANCE = 5
"""Seconds by which clocks may differ."""
MISSING = (
    "Restore a backup in an empty place (docs/operations.md), and copy the files from there to the"
    " same names."
)


def examine(*, at: datetime) -> Iterator[tuple[str, Fault]]:
    """Yield each fault with the part of the server that it is about."""
    yield from (("settings", fault) for fault in _settings())
    states = readiness()
    # One that fails with the database has the same fault.
    yield from {fault: (name, fault) for name, fault in reversed(states.items()) if fault}.values()
    yield from (("folders", fault) for fault in _folders())
    if any(states[name] for name in ("database", "migrations", "schema")):
        return  # the rest reads the tables
    for name, examination in EXAMINATIONS.items():
        yield from ((name, fault) for fault in examination(at))


def _settings() -> Iterator[Fault]:
    for message in run_checks(include_deployment_checks=settings.HTTPS):
        if message.level >= WARNING and not message.is_silenced():
            yield Fault(f"{message.msg} ({message.id})", message.hint or "See Django's checks.")


def _folders() -> Iterator[Fault]:
    files = Path(settings.MEDIA_ROOT)
    for folder in filter(Path.is_dir, (settings.DATA_DIR, files, *sorted(files.glob("*")))):
        status = folder.stat()
        if status.st_uid != os.geteuid() or not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
            user = os.geteuid()
            yield Fault(
                f"User {user} cannot write to {folder}, which belongs to user {status.st_uid}.",
                f"Run this as that user, or `chown --recursive {user} {settings.DATA_DIR}`.",
            )
        elif folder == files and status.st_mode & 0o077:
            yield Fault(f"Other users can read {folder}.", f"Run `chmod go= {folder}`.")


def _clock(at: datetime) -> Iterator[Fault]:
    todo = "Synchronize the clocks of all machines, for example with chrony."
    newest = AuditEvent.objects.aggregate(at=Max("at"))["at"]
    if newest and (newest - at).total_seconds() > TOLERANCE:
        yield Fault(f"It is {at:%Y-%m-%d %H:%M}, before the last event, {newest:%H:%M}.", todo)
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT extract(epoch FROM clock_timestamp())")
            apart = float(cursor.fetchone()[0]) - time.time()
        if abs(apart) > TOLERANCE:
            yield Fault(f"The clock of the database is {apart:+.0f} s off.", todo)


def _queues(at: datetime) -> Iterator[Fault]:
    for name, queue in work_queues(at=at).items():
        if queue.age > LONGEST_WAIT.total_seconds():
            yield Fault(
                f"Waiting {name}: {queue.waiting:,}. Nothing was done to the oldest for"
                f" {queue.age / 60:,.0f} minutes.",
                "If workers run, read their log, or start more of them.",
            )
    behind = [str(collection) for collection in unindexed_collections()]
    behind += [f"the formulas of {version.collection}" for version in unindexed_visual_maps()]
    if behind:
        yield Fault(
            f"The search indexes are out of date: {', '.join(behind)}.",
            "Wait for the workers, or run `manage.py index_posts`.",
        )


def _failures(at: datetime) -> Iterator[Fault]:
    failed = Job.objects.filter(state=Job.State.FAILED, updated_at__gt=at - RECENT)
    for job in failed.order_by("pk"):
        yield Fault(
            f"Job {job.pk} ({job.label}) failed: {job.message}",
            f"Read the log of {job.updated_at:%Y-%m-%d %H:%M}, then start it again.",
        )
    mails = Mail.objects.filter(state=Mail.State.FAILED, changed_at__gt=at - RECENT)
    if last := mails.first():
        yield Fault(
            f"Failed emails: {mails.count():,}, the last with: {last.error}",
            "Correct the address or EMAIL_URL, and send them again from the page of their lab.",
        )


def _mail(at: datetime) -> Iterator[Fault]:
    if settings.SENDS_MAIL:
        try:
            with get_connection():
                pass
        except OSError as error:  # those of smtplib too
            yield Fault(f"The mail server does not take mail: {error}.", "Correct EMAIL_URL.")


def _files(at: datetime) -> Iterator[Fault]:
    names = set(named_files())
    missing = {name for name in names if not kept.exists(name)}
    yield from _about(missing, "Files that the database names are missing", MISSING)
    empty = {name for name in names - missing if not kept.size(name)}
    yield from _about(empty, "Files are empty", MISSING)
    uploads = Upload.objects.exclude(file__in=missing | empty)
    rows = values_in_chunks(uploads, "file", "size", "sha256")
    changed = (name for name, *stored in rows if _state(name) != stored)
    yield from _about(changed, "Runs are not as they were sent", MISSING)
    yield from _about(_lost_loads(), "Files of loads are missing or have another size", MISSING)


def _state(name: str) -> list[int | str]:
    with kept.open(name) as file:
        return [file.size, sha256_of(file)]


def _lost_loads() -> Iterator[str]:
    for job in Job.objects.exclude(files=[]):
        for file in job.files:
            name = stored_name(job, file)
            if not kept.exists(name) or kept.size(name) != file["size"]:
                yield name


def _about(names: Iterable[str], what: str, todo: str) -> Iterator[Fault]:
    if ordered := sorted(names):
        listed = ", ".join(ordered[:3]) + (", …" if len(ordered) > 3 else "")
        yield Fault(f"{what} ({len(ordered):,}): {listed}", todo)


def _backups(at: datetime) -> Iterator[Fault]:
    last = cache.get(LAST_BACKUP)
    if last is None or at - last > OLDEST_BACKUP:
        since = f"since {last:%Y-%m-%d %H:%M}" if last else "yet"
        yield Fault(
            f"No backup was made {since}.",
            "Schedule `manage.py backup` once a day (docs/operations.md).",
        )


EXAMINATIONS: Mapping[str, Callable[[datetime], Iterator[Fault]]] = {
    "clock": _clock,
    "queues": _queues,
    "failures": _failures,
    "mail": _mail,
    "files": _files,
    "backups": _backups,
}
