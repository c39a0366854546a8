"""Task packs: all that the check of a run knows of its task, in one file for teams.

A pack is a zip of `task.json` (the rules and limits) and, if the lab has a collection,
`posts.parquet` and `formulas.parquet` (the ids that the items of a run are looked up in). It also
starts a team off: with the topics, and a program that makes a run. It has nothing secret: no qrels,
no pools and no runs.
"""

import io
import json
import zipfile
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import polars as pl

import arqkit
from arqkit.data_files import data_beside
from arqkit.formats.archives.unpacking import opened_zip
from arqkit.formats.archives.uploads import Unpacked, unpack
from arqkit.formats.nested import json_values
from arqkit.formats.runs.formats import taken_formats
from arqkit.formats.runs.report import RunRules
from arqkit.formats.tables import zip_chunks
from arqkit.records import FileRefusedError, ItemKind, Problem, TaskKind

_ITEMS = {
    ItemKind.POSTS: ("posts", 'filter(type="answer")["post_id"]'),
    ItemKind.DOCUMENTS: ("posts", 'filter(type="document")["post_id"]'),
    ItemKind.FORMULA_IDS: ("formulas", '["formula_id"]'),
    ItemKind.VISUAL_IDS: ("formulas", '["visual_id"].drop_nulls().unique(maintain_order=True)'),
}
_TOPICS = 'topics = json.loads(Path("task.json").read_text(encoding="utf-8"))["rules"]["topics"]'
_KIT = data_beside(__file__, "starter.toml")

PACK_VERSION = 1
"""Increase it when this version can no longer read the packs of the last one."""
_SETTINGS = "task.json"
# The columns that a check reads. They are in files of their own, and `knows` asks a server.
_COLUMNS = {"posts": ("post_id", "type"), "formulas": ("formula_id", "post_id", "visual_id")}
_APART = {*_COLUMNS, "knows"}
_KINDS = {
    "posts": {ItemKind.POSTS, ItemKind.DOCUMENTS},
    "formulas": {ItemKind.FORMULA_IDS, ItemKind.VISUAL_IDS},
}
_DAMAGE = (
    OSError,
    ValueError,
    LookupError,
    TypeError,
    zipfile.BadZipFile,
    pl.exceptions.PolarsError,
)


def starter_files(task: str, rules: RunRules, ids: Collection[str]) -> Iterator[tuple[str, bytes]]:
    """Yield the names and contents of a README and of the program `make_run.py`.

    The program reads the unpacked task pack beside it. `ids` says which of the files `posts` and
    `formulas` the pack has; without the one that the task needs, the ids are those of an example.
    """
    program, does = _KIT["ranked"], f"ranks {rules.limit:,} items a topic at random"
    todo = "and `ranking` may come from any program that gives a score to items"
    items = ""
    if rules.kind is TaskKind.GENERATED_ANSWERS:
        program, does = _KIT["written"], "writes the same answer to each topic"
        todo = f"and an answer may have {rules.max_characters:,} characters"
    else:
        name, column = _ITEMS[rules.items]
        dot = "" if column.startswith("[") else "."
        items = f'pl.read_parquet("{name}.parquet"){dot}{column}'
        if name not in ids:
            items = 'pl.Series(["1", "2", "3"])  # the ids of your collection'
    readme = _KIT["readme"].format(task=task, does=does, todo=todo)
    yield "README.md", readme.encode()
    text = program.format(topics=_TOPICS, items=items, limit=rules.limit)
    yield "make_run.py", text.encode()


class FileLimits(NamedTuple):
    """The limits of an upload (`max_bytes` when unpacked), and of each run in it."""

    max_bytes: int
    max_lines: int
    max_run_bytes: int

    def unpack(self, file: BinaryIO, *, name: str, only: str | None = None) -> list[Unpacked]:
        """Return the run files of an upload, or `only` one of a zip. Raise UploadRefusedError."""
        return unpack(file, name=name, only=only, **self._asdict())

    def unpack_by_name(self, file: BinaryIO, *, name: str) -> dict[str, bytes]:
        """Return the run files of an upload by their names, or by their paths if names repeat."""
        members = self.unpack(file, name=name)
        count = Counter(member.name for member in members)
        return {
            member.name if count[member.name] == 1 else member.path: member.data
            for member in members
        }


@dataclass(frozen=True, eq=False)
class TaskPack:
    """Everything needed to check a run of a task: the rules, and the limits of its files.

    `task` is the name of the task, LAB/TASK; `version` is the version of arqkit that wrote the
    pack.
    """

    task: str
    rules: RunRules
    limits: FileLimits
    version: str = arqkit.__version__

    @property
    def looks_up_items(self) -> bool:
        """Return whether the pack has ids that the items of a run are looked up in."""
        return self.rules.posts is not None or self.rules.formulas is not None


def pack_chunks(pack: TaskPack, *, topics: bytes = b"") -> Iterator[bytes]:
    """Yield the file of a pack: the settings, and the ids of those kinds that the task retrieves.

    With `topics`, the XML of `arqkit.formats.topics.files`, it starts a team off: it has them too,
    and `starter_files`.

    The ids may be in lazy frames, of which only the compressed columns come into memory: about 4 MB
    for 2.5 million posts and 60 MB for 28 million formulas, as many as ARQMath has.
    """
    yield from zip_chunks(_files(pack, topics))


def _files(pack: TaskPack, topics: bytes) -> Iterator[tuple[str, bytes]]:
    rules = {
        field.name: getattr(pack.rules, field.name)
        for field in fields(RunRules)
        if field.name not in _APART
    }
    settings = {
        "pack": PACK_VERSION,
        "version": pack.version,
        "task": pack.task,
        "rules": rules,
        "limits": pack.limits._asdict(),
    }
    yield _SETTINGS, (json.dumps(settings, indent=2) + "\n").encode()
    retrieved = {pack.rules.items, *(layout.items for layout in taken_formats(pack.rules))}
    id_frames = {
        name: ids.lazy().select(columns)
        for name, columns in _COLUMNS.items()
        if (ids := getattr(pack.rules, name)) is not None and retrieved & _KINDS[name]
    }
    for name, ids in id_frames.items():
        file = io.BytesIO()
        ids.sink_parquet(file, compression="zstd")
        yield f"{name}.parquet", file.getvalue()
    if topics:
        yield "topics.xml", topics
        yield from starter_files(pack.task, pack.rules, id_frames)


def read_pack(path: Path) -> TaskPack:
    """Read the file of a pack. Raise FileRefusedError, and OSError if it cannot be opened."""
    with path.open("rb") as file:
        try:
            with opened_zip(file, path.name) as archive:
                settings = json_values(archive.read(_SETTINGS))
                if settings["pack"] == PACK_VERSION:
                    return _pack_of(settings, archive)
        except _DAMAGE as error:
            todo = "Download the task pack from the task's page again."
            problem = Problem(str(path), None, f"no task pack ({error})", "a task pack", todo)
            raise FileRefusedError([problem]) from error
    actual, expected = f"version {settings['pack']} of task packs", f"version {PACK_VERSION}"
    todo = f"Install the arqkit that wrote it: {settings['version']}."
    raise FileRefusedError.of(str(path), actual, expected, todo)


def _pack_of(settings: dict[str, Any], archive: zipfile.ZipFile) -> TaskPack:
    rules = settings["rules"] | {
        name: pl.read_parquet(io.BytesIO(archive.read(f"{name}.parquet")))
        for name in _COLUMNS
        if f"{name}.parquet" in archive.namelist()
    }
    rules |= {
        "kind": TaskKind(rules["kind"]),
        "items": ItemKind(rules["items"]),
        "topics": tuple(rules["topics"]),
    }
    limits = FileLimits(**settings["limits"])
    return TaskPack(settings["task"], RunRules(**rules), limits, settings["version"])
