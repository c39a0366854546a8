"""Read the table `[collection]` of a lab.toml: the files of the collection and its time window.

The files must exist. They are read, and their problems reported, when they are imported.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Final

from arqkit.formats.dumps.records import Window
from arqkit.formats.dumps.sources import DUMP_FILES, dump_files
from arqkit.formats.labs.tables import LabTable, slug_text
from arqkit.protocols.overrides import truth
from arqkit.records import FileRefusedError

REPRESENTATIONS = ("latex", "slt", "opt")
"""The formula indexes of an edition (§2): LaTeX, symbol layout trees, operator trees."""

ALL_DAYS: Final = Window(None, None, False)
"""The window of a collection with posts of any day."""


@dataclass(frozen=True)
class CollectionFile:
    """The collection that a lab searches.

    `files` has a file, or an archive that contains it, for each kind of dump file, and for
    `documents` a file or folder. `formulas` has a TSV file, or a folder of them, for each
    representation. Posts outside `window` are not searched.
    """

    slug: str
    complete: bool
    files: Mapping[str, Path]
    formulas: Mapping[str, Path]
    window: Window = ALL_DAYS

    @property
    def posts(self) -> Path | None:
        """Return the file with the posts, or None."""
        return self.files.get("posts")


def read_collection_table(table: LabTable) -> CollectionFile | None:
    """Return the collection, or None (with the problems noted) if it has no slug."""
    slug, complete = table.take("slug", slug_text), table.take("complete", truth, True)
    files = _dump(table) | _named(table, DUMP_FILES) | _documents(table)
    indexes = table.table("formulas", required=False)
    formulas = {} if indexes is None else _indexes(indexes)
    window = _window(table)
    table.close()
    return None if slug is None else CollectionFile(slug, bool(complete), files, formulas, window)


def _named(table: LabTable, kinds: Mapping[str, str]) -> dict[str, Path]:
    files = {kind: table.file(kind, required=False) for kind in kinds}
    return {kind: file for kind, file in files.items() if file is not None}


def _documents(table: LabTable) -> dict[str, Path]:
    """Return the file or folder of the key `documents`."""
    documents = table.file_or_folder("documents", required=False)
    return {} if documents is None else {"documents": documents}


def _dump(table: LabTable) -> dict[str, Path]:
    """Return the files in the folder or archive of the key `dump`."""
    dump = table.file_or_folder("dump", required=False)
    if dump is None:
        return {}
    try:
        files = dump_files(dump)
    except FileRefusedError as error:
        table.add_those_of(error.problems)
        return {}
    if not files:
        known = ", ".join(DUMP_FILES.values())
        actual = f"dump = {dump.name!r}, which has no dump files"
        expected = f"one or more of {known}, plain or compressed (gz, bz2, 7z)"
        table.mistake("dump", actual, expected, "Correct the path.")
    return files


def _indexes(table: LabTable) -> dict[str, Path]:
    paths = {name: table.file_or_folder(name) for name in REPRESENTATIONS if name in table}
    table.close(*REPRESENTATIONS)
    return {name: path for name, path in paths.items() if path is not None}


def _window(table: LabTable) -> Window:
    since, until = table.take("since", a_day, None), table.take("until", a_day, None)
    keep_later = bool(table.take("keep_later", truth, False))
    if since is not None and until is not None and until < since:
        actual = f"a last day ({until}) before the first day ({since})"
        table.mistake(
            "until", actual, "a last day on or after the first day", "Correct one of the two."
        )
    if keep_later and "until" not in table:
        actual = "keep_later without until"
        table.mistake(
            "keep_later",
            actual,
            "the last day that is searched",
            "Add until, or remove keep_later.",
        )
    return Window(since, until, keep_later)


def a_day(value: object) -> date:
    """Return a day. Raise ValueError with what is expected."""
    if isinstance(value, datetime) or not isinstance(value, date):
        raise ValueError("a day such as 2018-12-31")
    return value
