"""Archives: a whole lab in one BagIt file (RFC 8493), and the lab made again from one."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import DatabaseError, transaction
from django.utils import timezone

from arqkit.formats.archives.bags import MANIFEST, bag_faults, seal_bag
from arqkit.formats.archives.folders import SourceFolder
from arqkit.formats.archives.unpacking import unpack_archive
from arqkit.records import FileRefusedError
from arqlab.audit.services.recording import record_event
from arqlab.core.errors import UserError
from arqlab.core.files import FileAt, kept
from arqlab.core.models import Lab, User
from arqlab.core.models.reading import snapshot
from arqlab.jobs.services.jobs import RunningJob
from collection.selectors.collections import collection_of
from desk.services.archive_documents import lab_documents
from desk.services.archive_tables import COLUMNS, FILES, TABLES, TableReader, TableWriter
from desk.services.load_files import archive_name

_UNFIT = (LookupError, TypeError, ValueError, AttributeError, ValidationError, DatabaseError)
"""The errors of rows that this version did not write."""


class Archive(NamedTuple):
    """An archive, the lab in it, and the numbers of rows of its tables."""

    path: Path
    lab: Lab
    counts: dict[str, int]


def archive_lab(lab: Lab, *, path: Path, published: bool = False) -> Archive:
    """Write a lab to a zip file, with the texts of its collection if their licence lets it.

    `published` writes a test collection for everyone: no tables, and what is released only. Raises
    `UserError` if the file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=path.parent, prefix=f".{path.name}-") as unfinished:
            bag = Path(unfinished, lab.slug)
            data = bag / "data"
            data.mkdir(parents=True)
            counts = {} if published else _write_tables(lab, data)
            for document in lab_documents(lab, published=published):
                place = data / document.path
                place.parent.mkdir(parents=True, exist_ok=True)
                with place.open("wb") as file:
                    file.writelines(document.chunks)
            facts = {
                "External-Identifier": lab.slug,
                "External-Description": lab.name,
                "Bag-Software-Agent": f"ArqLab {settings.VERSION}",
            }
            seal_bag(bag, facts, on=timezone.now().date())
            zipped = shutil.make_archive(str(bag), "zip", root_dir=unfinished, base_dir=lab.slug)
            Path(zipped).rename(path)
    except OSError as error:
        raise UserError(
            f"No archive was written to {path}: {error}. Make room there, or choose another place."
        ) from error
    return Archive(path, lab, counts)


def archive_by_job(work: RunningJob) -> list[str]:
    """Write the archive that the job's options name, and keep it with the files of the job."""
    with TemporaryDirectory(dir=settings.DATA_DIR, prefix="archiving-") as folder:
        path = Path(folder, "archive.zip")
        archive = archive_lab(work.lab, path=path, published=work.job.options["published"])
        size = path.stat().st_size
        with FileAt(path) as content:
            kept.replace(archive_name(work.job), content)
    rows = f"{sum(archive.counts.values()):,} rows of {len(archive.counts)} tables, "
    return [f"{rows if archive.counts else ''}{size / 1e6:,.1f} MB."]


def _write_tables(lab: Lab, data: Path) -> dict[str, int]:
    collection = collection_of(lab)
    with_texts = bool(collection and collection.may_be_passed_on)
    with snapshot():
        tables = TableWriter(lab, tables=data / TABLES, files=data / FILES, with_texts=with_texts)
        return tables.write()


def restore_lab(path: Path, *, by: User | None = None, later: timedelta = timedelta()) -> Lab:
    """Make the lab of an archive, a zip file or its unpacked folder: all of it, or nothing.

    `later` is added to all times. Raises `UserError` if the archive is damaged or newer than this
    version, or if there is a lab of its name.
    """
    try:
        with _unpacked(path) as folder, transaction.atomic():
            if faults := bag_faults(folder):
                raise _damaged(path, faults)
            if not has_tables(folder.folder("data")):
                raise UserError(
                    f"{path} has no tables, because it was published. Load its topics and qrels"
                    " with manage.py load_lab, or restore an archive that was made without"
                    " --published.",
                    code="published",
                )
            tables = TableReader(data=folder.folder("data"), later=later)
            lab = tables.read()
            # Of this server, and not of the lab, which is as it was.
            without = {"without": tables.left_out} if tables.left_out else {}
            record_event("lab.restore", str(lab), by, file=path.name, **without)
    except FileRefusedError as refused:
        raise _damaged(path, [str(problem) for problem in refused.problems]) from refused
    except OSError as error:
        raise UserError(
            f"Cannot read {path}: {error}. Name the zip file of an archive, or its unpacked folder."
        ) from error
    except _UNFIT as error:
        fault = f"its tables do not fit together ({type(error).__name__}: {error})"
        raise _damaged(path, [fault]) from error
    return lab


def _damaged(path: Path, faults: list[str]) -> UserError:
    lines = "\n".join(faults)
    return UserError(
        f"{path} is damaged, or no archive of ArqLab:\n{lines}\nUse another copy.", code="damaged"
    )


def has_tables(data: SourceFolder) -> bool:
    """Return whether the data of an archive have the tables that a lab is restored from."""
    return f"{TABLES}/{COLUMNS}" in data.files()


@contextmanager
def _unpacked(path: Path) -> Iterator[SourceFolder]:
    """Yield the folder of an archive, which stays in it even if the operator names it."""
    if path.is_dir():
        yield SourceFolder(path)
        return
    with TemporaryDirectory(dir=settings.DATA_DIR, prefix="restoring-") as unfinished:
        folder = Path(unfinished)
        unpack_archive(path, folder)
        tops = [top for top in folder.iterdir() if (top / MANIFEST).is_file()]
        yield SourceFolder(tops[0] if len(tops) == 1 else folder)
