"""Kept files: those of loads, and those that nothing uses any more.

The files of a load are kept unchanged below `loads/`, and read in a folder of the worker.
"""

import logging
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from functools import wraps
from pathlib import Path
from tempfile import TemporaryDirectory

from django.conf import settings
from django.core.files import File

from arqkit.formats.archives.folders import SourceFolder, SourcePath, checked_parts, safe_name
from arqkit.formats.labs.packed import link_file
from arqkit.formats.labs.tables import LabTable, sent_table
from arqlab.core.files import kept, sha256_of
from arqlab.core.models import Job
from arqlab.core.models.reading import rows_in_chunks
from arqlab.core.selectors import named_files
from arqlab.jobs.services.jobs import RunningJob
from submissions.services.storage import expire_runs

Uploads = Mapping[str, Iterable[File]]
"""The uploaded files by the form's field."""

log = logging.getLogger(__name__)
RUN_FOLDERS = ("uploads", "indexes", "reports")
LOADS, INCOMING, UNUSED = "loads", "incoming", "unused"
CANDIDATES = "candidates.csv"
LEAST_AGE = timedelta(days=1)
"""The age from which a file counts as unused: files are stored before the rows that refer to them,
but never this long before."""
KEPT_FOR = timedelta(days=30)
"""How long unused files are kept aside before they are deleted."""


def load_folder(load: Job) -> str:
    """Return the name of the folder in which the files of a load are kept."""
    return f"{LOADS}/{load.folder}"


def archive_name(load: Job) -> str:
    """Return the kept name of the archive that a job wrote."""
    return f"{load_folder(load)}/archive.zip"


def stored_name(load: Job, file: Mapping[str, object]) -> str:
    """Return the name under which a file of a load is kept."""
    # Version 0.1 kept each by its own name.
    return str(file.get("stored") or f"{load_folder(load)}/sent/{file['field']}/{file['name']}")


def store_files(load: Job, uploads: Uploads, *, replaced: Iterable[str] = ()) -> None:
    """Store the files of a load, and note their names, SHA-256 and where they are kept.

    A file replaces an earlier one with its name; those of the fields `replaced` replace all files
    of the field. What was replaced is unused from then on.
    """
    stored = {(file["field"], file["name"]): file for file in load.files}
    for field, files in uploads.items():
        file_list = list(files)
        if file_list and field in replaced:
            stored = {key: file for key, file in stored.items() if key[0] != field}
        for file in file_list:
            name = safe_name(str(file.name))
            stored[field, name] = {
                "field": field,
                "name": name,
                "size": file.size,
                "sha256": sha256_of(file),
                "stored": kept.save(f"{load_folder(load)}/{name}", file),
            }
    load.files = list(stored.values())


def reads_files(
    load: Callable[[RunningJob, SourceFolder], list[str]],
) -> Callable[[RunningJob], list[str]]:
    """Return a load that reads its files in a folder, which is there while it runs."""

    @wraps(load)
    def reads(work: RunningJob) -> list[str]:
        incoming = Path(settings.MEDIA_ROOT) / INCOMING
        incoming.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=incoming) as folder:
            sent = SourceFolder(Path(folder).resolve())
            for file in work.job.files:
                path = sent.root.joinpath(*checked_parts(f"{file['field']}/{file['name']}"))
                path.parent.mkdir(exist_ok=True)
                local_path = kept.local(stored_name(work.job, file), path)
                if local_path != path:
                    link_file(local_path, path)
            return load(work, sent)

    return reads


def sent_files(sent: SourceFolder, field: str) -> list[SourcePath]:
    """Return the files that were sent in a field, in the folder of `reads_files`."""
    return [file for name, file in sent.files().items() if name.startswith(f"{field}/")]


def files_by_field(sent: SourceFolder) -> dict[str, str]:
    """Return the paths of the files that were sent, of each field the last."""
    return {name.partition("/")[0]: name for name in sent.files()}


def sent_table_of(sent: SourceFolder, **values: object) -> LabTable:
    """Return what was sent as a lab.toml has it: paths of files, and values that are not empty."""
    first = next(iter(sent.files()), "").rpartition("/")[2]
    filled = {name: value for name, value in values.items() if value not in (None, "", {})}
    return sent_table(sent, filled, sent_as=first or "lab.toml")


def sweep_files(*, at: datetime) -> int:
    """Put unused files aside, and delete those put aside long ago. Return how many were put aside.

    The files of runs that expire are unused, and so are the beginnings of files whose upload did
    not end, which are deleted at once.
    """
    expire_runs(at=at)
    unused = list(_unused_names(at))
    for name in unused:
        aside = put_aside(name, at=at)
        log.info("No row refers to %s. It was moved to %s.", name, aside)
    incoming = Path(settings.MEDIA_ROOT) / INCOMING
    for path in incoming.glob("*"):
        _delete_incoming(path, at)
    for day in kept.folders(UNUSED):
        if _is_day_before(day, (at - KEPT_FOR).astimezone(UTC).date()):
            kept.delete_folder(f"{UNUSED}/{day}")
            log.info("The unused files of %s were deleted.", day)
    return len(unused)


def put_aside(name: str, *, at: datetime) -> str:
    """Keep a file aside for `KEPT_FOR`. Return where."""
    aside = f"{UNUSED}/{at.astimezone(UTC).date()}/{name}"
    kept.move(name, aside)
    return aside


def _unused_names(at: datetime) -> Iterator[str]:
    """Yield the files of runs and of loads that are old and that no row refers to."""
    # List the files before the rows: a file whose row is stored in between is too new to move.
    names = [name for folder in (*RUN_FOLDERS, LOADS) for name in kept.names(folder)]
    files_in_use = {*named_files("submissions"), *_files_of_loads()}
    for name in names:
        if name not in files_in_use and name.count("/") > 1 and _is_old(name, at):
            yield name


def _files_of_loads() -> Iterator[str]:
    for load in rows_in_chunks(Job.objects.only("folder", "files")):
        yield f"{load_folder(load)}/{CANDIDATES}"
        yield from (stored_name(load, file) for file in load.files)


def _is_old(name: str, at: datetime) -> bool:
    try:
        return kept.get_modified_time(name) < at - LEAST_AGE
    except FileNotFoundError:  # it was deleted since it was listed
        return False


def _delete_incoming(path: Path, at: datetime) -> None:
    """Delete what an upload or a load left behind that was interrupted."""
    # The load that owns it may delete it at this moment.
    with suppress(FileNotFoundError):
        changed = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        if path.is_dir() and changed < at - KEPT_FOR:  # a load reads it for hours
            shutil.rmtree(path)
        elif path.is_file() and changed < at - LEAST_AGE:
            path.unlink()


def _is_day_before(name: str, day: date) -> bool:
    try:
        return date.fromisoformat(name) < day
    except ValueError:  # a folder of another origin
        return False
