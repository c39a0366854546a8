"""The table `[collection]` of a `lab.toml`: which files a collection is made of, and from when to
when it goes.

That the files are there is checked here; what they hold is read when they are imported, which goes
on past mistakes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Final

from arqlab.formats.dumps.records import Window
from arqlab.formats.dumps.sources import DUMP_FILES, dump_files
from arqlab.formats.labs.tables import LabTable, slug_text
from arqlab.ir.protocols.overrides import truth
from arqlab.ir.records import FileRefusedError

REPRESENTATIONS = ("latex", "slt", "opt")
"""The three formula indexes of an edition (protocol §2): LaTeX, symbol layout trees, operator
trees.
"""

ALL_DAYS: Final = Window(None, None, False)
"""The window of a collection that takes in posts of any day."""


@dataclass(frozen=True)
class CollectionFile:
    """The collection that a lab searches, as its folder names it.

    `files` gives a file, or an archive that holds it, for each kind of dump file; `formulas` a TSV,
    or a folder of them, for each representation. Posts outside `window` are not searched.
    """

    slug: str
    complete: bool
    files: Mapping[str, Path]
    formulas: Mapping[str, Path]
    window: Window = ALL_DAYS

    @property
    def posts(self) -> Path | None:
        """Return the file of the posts, where there is one."""
        return self.files.get("posts")


def read_collection_table(table: LabTable) -> CollectionFile | None:
    """Read the table; None, with its problems noted, where it has no slug."""
    slug, complete = table.take("slug", slug_text), table.take("complete", truth, True)
    files = _dump(table) | _named(table, DUMP_FILES)
    indexes = table.table("formulas", required=False)
    formulas = {} if indexes is None else _indexes(indexes)
    window = _window(table)
    table.close()
    return None if slug is None else CollectionFile(slug, bool(complete), files, formulas, window)


def _named(table: LabTable, kinds: Mapping[str, str]) -> dict[str, Path]:
    found = {kind: table.file(kind, required=False) for kind in kinds}
    return {kind: file for kind, file in found.items() if file is not None}


def _dump(table: LabTable) -> dict[str, Path]:
    """Return what the dump's folder or archive holds; a file with a key of its own goes before."""
    dump = table.file_or_folder("dump", required=False)
    if dump is None:
        return {}
    try:
        found = dump_files(dump)
    except FileRefusedError as error:
        table.add_those_of(error.problems)
        return {}
    if not found:
        known = ", ".join(DUMP_FILES.values())
        told = f"dump = {dump.name!r}, which holds no file of a dump"
        table.mistake(
            "dump", told, f"one of {known}, plain or packed (gz, bz2, 7z)", "Correct the path."
        )
    return found


def _indexes(table: LabTable) -> dict[str, Path]:
    found = {name: table.file_or_folder(name) for name in REPRESENTATIONS if name in table}
    table.close(*REPRESENTATIONS)
    return {name: path for name, path in found.items() if path is not None}


def _window(table: LabTable) -> Window:
    since, until = table.take("since", a_day, None), table.take("until", a_day, None)
    keep_later = bool(table.take("keep_later", truth, False))
    if since is not None and until is not None and until < since:
        found = f"a last day ({until}) that is before the first ({since})"
        table.mistake("until", found, "a last day that is not earlier", "Correct one of the two.")
    if keep_later and "until" not in table:
        found = "keep_later without until"
        table.mistake(
            "keep_later",
            found,
            "the last day that is searched",
            "Add until, or take keep_later out.",
        )
    return Window(since, until, keep_later)


def a_day(value: object) -> date:
    """Read a day. Raises ValueError with what is expected."""
    if isinstance(value, datetime) or not isinstance(value, date):
        raise ValueError("a day, like 2018-12-31")
    return value
