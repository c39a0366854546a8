"""Read the tables of a lab.toml key by key: missing, unknown and wrong keys become problems."""

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone
from difflib import get_close_matches
from functools import partial
from math import inf
from pathlib import Path
from typing import Final, TypeVar, overload

from arqkit.formats.archives.folders import MISSING, SourceFolder, SourcePath, refuse_path
from arqkit.formats.dumps.records import Window
from arqkit.formats.dumps.sources import DUMP_FILES, dump_files
from arqkit.formats.labs.files import UNCHECKED, TaskFacts, TaskFileKind
from arqkit.formats.nested import toml_values
from arqkit.formats.source_text import source_text
from arqkit.protocols.overrides import truth
from arqkit.records import FileRefusedError, Problem

_HEADER = re.compile(r"\s*\[(\[?)\s*([\w.\s\"-]+?)\s*\]")
_KEY = re.compile(r"\s*\"?([\w-]+)\"?\s*=")
_INLINE_TABLE = re.compile(r"\s*\{")
_SLUG = re.compile("[a-z0-9]+(-[a-z0-9]+)*")

TomlPath = tuple[str | int, ...]

T = TypeVar("T")
D = TypeVar("D")

ANYWHERE_ON_EARTH: Final = timezone(timedelta(hours=-12), "AoE")
"""The zone of days: a deadline that is a day ends where on earth that day ends last."""

_REQUIRED: Final = object()

REPRESENTATIONS = ("latex", "slt", "opt")
"""The formula indexes of an edition (§2): LaTeX, symbol layout trees, operator trees."""

ALL_DAYS: Final = Window(None, None, False)
"""The window of a collection with posts of any day."""


class TomlLines:
    """The lines of a TOML text by path, such as ("tasks", 1, "qrels", 0)."""

    def __init__(self, text: str) -> None:
        self._lines: dict[TomlPath, int] = {}
        sizes: Counter[TomlPath] = Counter()
        table: TomlPath = ()
        key: TomlPath = ()
        for number, line in enumerate(text.split("\n"), start=1):
            if header := _HEADER.match(line):
                table = self._table(header[2], bool(header[1]), sizes)
                key = table
                self._lines.setdefault(table, number)
            elif match := _KEY.match(line):
                key = (*table, match[1])
                self._lines.setdefault(key, number)
            elif _INLINE_TABLE.match(line):
                self._lines.setdefault((*key, sizes[key]), number)
                sizes[key] += 1

    def __call__(self, path: TomlPath) -> int | None:
        """Return the line of a path, or of the nearest enclosing key or table."""
        while path and path not in self._lines:
            path = path[:-1]
        return self._lines.get(path)

    def _table(self, name: str, is_array: bool, sizes: "Counter[TomlPath]") -> TomlPath:
        path: TomlPath = ()
        parts = [part.strip().strip('"') for part in name.split(".")]
        for part in parts[:-1]:
            path = (*path, part)
            path = (*path, sizes[path] - 1) if sizes[path] else path
        path = (*path, parts[-1])
        if is_array:
            sizes[path] += 1
            return (*path, sizes[path] - 1)
        return path


def syntax_fault(error: tomllib.TOMLDecodeError) -> tuple[int | None, str]:
    """Return the line and the reason of a TOML syntax error."""
    reason, _, place = str(error).partition(" (at ")
    line = re.search(r"line (\d+)", place)
    return (int(line[1]) if line else None), reason


class Mistakes:
    """The problems of a lab.toml and of the files that it names.

    Files that were sent without one have their own names in problems: `sent_as` is the first.
    """

    def __init__(self, folder: SourceFolder, *, sent_as: str = "") -> None:
        self.folder, self.sent_as = folder, sent_as
        self.path = Path(sent_as) if sent_as else folder.root / "lab.toml"
        self.problems: list[Problem] = []
        self._lines = TomlLines("")

    def shown(self, file: SourcePath) -> str:
        """Return the path of a file in problems."""
        return file.path.name if self.sent_as else str(self.path.parent / file.name)

    def read_root(self) -> "LabTable":
        """Return the root table. Raise FileRefusedError if the file is not valid TOML."""
        try:
            file = self.folder / self.path.name
        except FileRefusedError as refused:
            actual, expected = refused.problems[0].found, "a lab.toml in the lab's folder"
            todo = "Name the lab's folder."
            raise FileRefusedError.of(str(self.path), actual, expected, todo) from refused
        try:
            text = source_text(file.content(), path=str(self.path))
            values = toml_values(text)
            self._lines = TomlLines(text)
            return LabTable(self, (), values)
        except OSError as error:
            line, actual = None, f"no readable file ({error.strerror})"
            expected, todo = "a lab.toml in the lab's folder", "Name the lab's folder."
        except tomllib.TOMLDecodeError as error:
            line, actual = syntax_fault(error)
            expected, todo = "valid TOML", "Correct the syntax."
        raise FileRefusedError([Problem(str(self.path), line, actual, expected, todo)])

    def add(self, at: TomlPath, actual: str, expected: str, todo: str) -> None:
        """Add a problem of the lab.toml at a path of keys."""
        self.problems.append(Problem(str(self.path), self._lines(at), actual, expected, todo))

    def add_those_of(self, problems: tuple[Problem, ...]) -> None:
        """Add the problems of a file, only once if several tasks name it."""
        self.problems.extend(problem for problem in problems if problem not in self.problems)

    def refuse_any(self) -> None:
        """Raise FileRefusedError with all problems: those of lab.toml first, by file and line."""
        lab_toml = str(self.path)
        self.problems.sort(key=lambda it: (it.path != lab_toml, it.path, it.line or 0))
        if self.problems:
            raise FileRefusedError(self.problems)


class LabTable:
    """A table whose keys are read one by one; `close` reports the unknown ones."""

    def __init__(self, mistakes: Mistakes, at: TomlPath, values: Mapping[str, object]) -> None:
        self._mistakes = mistakes
        self._at = at
        self._values = dict(values)
        self._asked: list[str] = []

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def value(self, key: str) -> object:
        """Return the unchecked value of a key, or None."""
        return self._values.get(key)

    @overload
    def take(self, key: str, read: Callable[[object], T]) -> T | None: ...
    @overload
    def take(self, key: str, read: Callable[[object], T], default: D) -> T | D | None: ...
    def take(self, key: str, read: Callable[[object], T], default: object = _REQUIRED) -> object:
        """Return the value of a key, or None with a problem if it is wrong or missing.

        A missing key with a default is no problem. `read` raises ValueError with what it expects.
        """
        self._asked.append(key)
        if key not in self._values:
            if default is _REQUIRED:
                self.mistake(None, f"no {key}", f"the key {key}", f"Add {key} to {self._name()}.")
                return None
            return default
        try:
            return read(self._values[key])
        except ValueError as error:
            value = self._values[key]
            text = repr(value) if isinstance(value, str) else str(value)
            self.mistake(key, f"{key} = {text[:80]}", str(error), "Correct the value.")
            return None

    def text(self, key: str, *, most: int = 200) -> str | None:
        """Return a text of at most `most` characters."""
        return self.take(key, partial(some_text, most=most))

    def file(
        self, key: str, *, required: bool = True, may_be_folder: bool = False
    ) -> SourcePath | None:
        """Return an existing file, or perhaps folder, by its path relative to the lab.toml.

        None with a problem for others, and for those that the lab's folder does not let read.
        """
        name = self.take(key, some_text) if required else self.take(key, some_text, None)
        if name is None:
            return None
        what = "file or folder" if may_be_folder else "file"
        folder = self._mistakes.folder
        try:
            file = folder / name
            if file.is_folder and may_be_folder:
                folder.folder(name).files()  # a link in it may lead outside
            elif file.is_folder:
                refuse_path(name, MISSING, "a file", "Correct the path.")
            return file
        except FileRefusedError as refused:
            [problem] = refused.problems
            actual = problem.found if problem.found != MISSING else f"not a {what}"
            actual = f"{key} = {name[:80]!r}, which is {actual}"
            self.mistake(key, actual, f"the path of a {what}", problem.todo)
        return None

    def content(
        self, file: SourcePath | None, kind: TaskFileKind[T], task: TaskFacts = UNCHECKED
    ) -> T | None:
        """Return what is in a file of a kind, or None with all problems of the file."""
        if file is None:
            return None
        try:
            return kind.read(file, self._mistakes.shown(file), task)
        except FileRefusedError as error:
            self._mistakes.add_those_of(error.problems)
        except OSError as error:
            actual = f"an unreadable file ({error.strerror})"
            todo = "Check the permissions of the file."
            problem = Problem(file.name, None, actual, "a readable file", todo)
            self._mistakes.add_those_of((problem,))
        return None

    def named_content(self, kind: TaskFileKind[T], task: TaskFacts = UNCHECKED) -> T | None:
        """Return what is in the file that the key of a kind names, or None."""
        if kind.key in self and kind.needs and kind.needs not in self:
            todo = f"Add {kind.needs}, or load {kind.needs} and their information in the browser."
            expected = f"the key {kind.needs} beside it"
            self.mistake(kind.key, f"{kind.key} without {kind.needs}", expected, todo)
        file = self.file(kind.key, required=False, may_be_folder=kind.is_folder)
        if file is not None and kind.is_folder and not file.is_folder:
            actual = f"{kind.key} = {file.name[:80]!r}, which is a file"
            self.mistake(kind.key, actual, "the path of a folder", "Correct the path.")
            return None
        return self.content(file, kind, task)

    def table(self, key: str, *, required: bool = True) -> "LabTable | None":
        """Return the table of a key; None, with a mistake if it is `required`, without one."""
        values = self.take(key, _a_table) if required else self.take(key, _a_table, None)
        return None if values is None else LabTable(self._mistakes, (*self._at, key), values)

    def tables(self, key: str, *, required: bool = True) -> list["LabTable"]:
        """Return the tables of a key; none, with a mistake if they are `required`, without any."""
        rows = self.take(key, _some_tables) if required else self.take(key, _some_tables, [])
        return [
            LabTable(self._mistakes, (*self._at, key, number), row)
            for number, row in enumerate(rows or [])
        ]

    def mistake(self, key: str | None, actual: str, expected: str, todo: str) -> None:
        """Add a problem of this table, or of one of its keys."""
        self._mistakes.add(self._at if key is None else (*self._at, key), actual, expected, todo)

    def add_those_of(self, problems: tuple[Problem, ...]) -> None:
        """Add the problems of a file that the table names."""
        self._mistakes.add_those_of(problems)

    def refuse_any(self) -> None:
        """Raise FileRefusedError with all problems that were found so far, if there are any."""
        self._mistakes.refuse_any()

    def close(self, *others: str) -> None:
        """Report the keys that were not read, except for `others`."""
        keys = list(dict.fromkeys((*self._asked, *others)))
        for key in self._values:
            if key not in self._asked:
                near = get_close_matches(key, keys, n=1)
                todo = f"Did you mean {near[0]}?" if near else "Remove it."
                self.mistake(key, f"the key {key}", f"one of {', '.join(keys)}", todo)

    def _name(self) -> str:
        names = [str(part) for part in self._at if isinstance(part, str)]
        return f"[{'.'.join(names)}]" if names else "the file"


def sent_table(folder: SourceFolder, values: Mapping[str, object], *, sent_as: str) -> LabTable:
    """Return what was sent to load a single kind of file, as a lab.toml would have it.

    `values` name the files by their paths in the folder. Problems of values are those of `sent_as`.
    """
    return LabTable(Mistakes(folder, sent_as=sent_as), (), values)


def slug_text(value: object) -> str:
    """Return a slug. Raise ValueError with what is expected."""
    if isinstance(value, str) and len(value) <= 50 and _SLUG.fullmatch(value):
        return value
    raise ValueError("at most 50 lower-case letters, digits and single hyphens")


def _moment(value: object, *, of_day: time) -> datetime:
    if isinstance(value, datetime):
        if value.tzinfo is not None:
            return value
    elif isinstance(value, date):
        return datetime.combine(value, of_day, ANYWHERE_ON_EARTH)
    raise ValueError(
        "a day (anywhere on earth), or a time with an offset, such as 2022-05-21T12:00:00Z"
    )


opening_time = partial(_moment, of_day=time(0, 0, 0))
"""Return a time with a zone, or the first second of a day; raise ValueError otherwise."""
closing_time = partial(_moment, of_day=time(23, 59, 59))
"""Return a time with a zone, or the last second of a day; raise ValueError otherwise."""


def some_text(value: object, *, expected: str = "some text", most: float = inf) -> str:
    """Return a text that is not empty. Raise ValueError with what is expected."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError(expected)
    if len(value) > most:
        raise ValueError(f"at most {most} characters")
    return value


def _a_table(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise ValueError("a table")
    return value


def _some_tables(value: object) -> list[dict[str, object]]:
    if not isinstance(value, list) or not value or not all(isinstance(row, dict) for row in value):
        raise ValueError("a list of tables")
    return value


@dataclass(frozen=True)
class CollectionFile:
    """The collection that a lab searches.

    `files` has a file, or an archive that contains it, for each kind of dump file, and for
    `documents` a file or folder. `formulas` has a TSV file, or a folder of them, for each
    representation. Posts outside `window` are not searched. `licence` is the SPDX identifier of the
    texts' licence, or empty.
    """

    slug: str
    complete: bool
    files: Mapping[str, Path]
    formulas: Mapping[str, Path]
    window: Window = ALL_DAYS
    licence: str = ""

    @property
    def posts(self) -> Path | None:
        """Return the file with the posts, or None."""
        return self.files.get("posts")


def read_collection_table(table: LabTable) -> CollectionFile | None:
    """Return the collection, or None (with the problems noted) if it has no slug."""
    slug, complete = table.take("slug", slug_text), table.take("complete", truth, True)
    licence = table.text("licence", most=60) if "licence" in table else ""
    named = {kind: table.file(kind, required=False) for kind in DUMP_FILES}
    files = _dump(table) | {kind: file.path for kind, file in named.items() if file is not None}
    if documents := table.file("documents", required=False, may_be_folder=True):
        files["documents"] = documents.path
    indexes = table.table("formulas", required=False)
    formulas = {} if indexes is None else _indexes(indexes)
    window = _window(table)
    table.close()
    if slug is None:
        return None
    return CollectionFile(slug, bool(complete), files, formulas, window, licence or "")


def _dump(table: LabTable) -> dict[str, Path]:
    dump = table.file("dump", required=False, may_be_folder=True)
    if dump is None:
        return {}
    try:
        files = dump_files(dump.path)
    except FileRefusedError as error:
        table.add_those_of(error.problems)
        return {}
    if not files:
        names = ", ".join(DUMP_FILES.values())
        actual = f"dump = {dump.name!r}, which has no dump files"
        expected = f"one or more of {names}, plain or compressed (gz, bz2, 7z)"
        table.mistake("dump", actual, expected, "Correct the path.")
    return files


def _indexes(table: LabTable) -> dict[str, Path]:
    named = [name for name in REPRESENTATIONS if name in table]
    paths = {name: table.file(name, may_be_folder=True) for name in named}
    table.close(*REPRESENTATIONS)
    return {name: file.path for name, file in paths.items() if file is not None}


def _window(table: LabTable) -> Window:
    since, until = table.take("since", a_day, None), table.take("until", a_day, None)
    keep_later = bool(table.take("keep_later", truth, False))
    if since is not None and until is not None and until < since:
        actual = f"a last day ({until}) before the first day ({since})"
        expected, todo = "a last day on or after the first day", "Correct one of the two."
        table.mistake("until", actual, expected, todo)
    if keep_later and "until" not in table:
        expected, todo = "the last day that is searched", "Add until, or remove keep_later."
        table.mistake("keep_later", "keep_later without until", expected, todo)
    return Window(since, until, keep_later)


def a_day(value: object) -> date:
    """Return a day. Raise ValueError with what is expected."""
    if isinstance(value, datetime) or not isinstance(value, date):
        raise ValueError("a day such as 2018-12-31")
    return value
