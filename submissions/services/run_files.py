"""Folders of run files with their manifest: what an export writes, and an organizer loads."""

import csv
import hashlib
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from operator import attrgetter
from pathlib import PurePosixPath
from typing import Any, NamedTuple
from uuid import UUID

from django.core.files import File
from django.db import transaction
from django.utils.text import slugify

from arqkit.formats.archives.folders import SourceFolder, SourcePath, safe_name
from arqkit.formats.archives.uploads import ZIP, UploadRefusedError, first_bytes
from arqkit.formats.qrels.judgments import utc_time
from arqkit.formats.runs.filename import read_name
from arqkit.formats.runs.times import read_times, write_times
from arqkit.formats.source_text import source_text
from arqkit.formats.tables import tsv_lines
from arqkit.records import FileProblems, FileRefusedError, Problem
from arqkit.standings import FLAGS
from arqlab.core.models import Task, Team, User
from arqlab.teams.selectors import team_key
from arqlab.teams.services import create_team, lab_team
from arqlab.web import counted
from submissions.models import Run
from submissions.selectors import run_bytes
from submissions.services.ir_metadata import metadata_name, take_ir_metadata, write_ir_metadata
from submissions.services.rules import Sender
from submissions.services.run_metadata import TAG_LENGTH, RunMetadata, metadata_from_name
from submissions.services.uploads import take_uploads
from submissions.services.validation import validate_uploaded_run

MANIFESTS = {"manifest.tsv": "\t", "metadata.csv": ","}
"""The files that describe the runs of a folder, with their separators."""
IDENTIFIER = re.compile(r"[^\s/]{1,200}")
_TRUTH = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}

_TIME = (utc_time, "a time such as 2026-11-21T14:05:00Z")

_DESCRIBED = {one.name for one in fields(RunMetadata)}


def _text(most: int) -> Callable[[str], str]:
    def read(cell: str) -> str:
        if len(cell) > most:
            raise ValueError
        return cell

    return read


def _times(cell: str) -> str:
    try:
        return write_times(read_times(cell))
    except FileRefusedError as error:
        raise ValueError from error


def _choice(choices: Sequence[str]) -> Callable[[str], str]:
    return lambda cell: choices[choices.index(cell)]


def _identifier(cell: str) -> str:
    if not IDENTIFIER.fullmatch(cell):
        raise ValueError
    return cell


class RunColumn(NamedTuple):
    """A column of a manifest: what it has of a run, and the field that a load fills with it.

    A column without a field is written, and follows from the others when it is read.
    """

    of: Callable[[Run], object]
    field: str = ""
    read: Callable[[str], object] = str
    expected: str = ""


def _column(name: str, read: Callable[[str], object] = str, expected: str = "a text") -> RunColumn:
    return RunColumn(attrgetter(name), name, read, expected)


def _flag(name: str) -> RunColumn:
    return _column(name, lambda cell: _TRUTH[cell.lower()], "yes, no or nothing")


def _one_of(name: str, choices: Sequence[str]) -> RunColumn:
    return _column(name, _choice(choices), f"one of {', '.join(choices)}")


RUN_COLUMNS: dict[str, RunColumn] = {
    "run_id": _column("identifier", _identifier, "an id of at most 200 characters"),
    "file": RunColumn(attrgetter("file_name")),
    "team": RunColumn(attrgetter("team.name")),
    "tag": _column("tag", _text(TAG_LENGTH), f"at most {TAG_LENGTH} characters"),
    **{flag.key: _flag(flag.field) for flag in FLAGS},
    "baseline": _flag("is_baseline"),
    "out_of_competition": _column("out_of_competition", _text(300), "at most 300 characters"),
    "control": _flag("is_control"),
    "post_hoc": _flag("is_post_hoc"),
    "standing": RunColumn(attrgetter("standing.key")),
    "trained": _flag("is_trained"),
    "system": _column("system", UUID, "a UUID"),
    "data": _one_of("data_used", Run.DataUsed.values),
    "answers": _one_of("answer_kind", Run.AnswerKind.values),
    "items": _one_of("items", Task.Items.values),
    "status": RunColumn(attrgetter("status")),
    "submitted": _column("submitted_at", *_TIME),
    "sha256": RunColumn(attrgetter("sha256")),
    "withdrawn": _column("withdrawn_at", *_TIME),
    "reason": _column("withdrawal_reason"),
    "description": _column("description"),
    "retrieval_times": _column(
        "retrieval_times", _times, "lines with a topic and its seconds, such as A.1 0.316"
    ),
    "paper": _column("paper"),
    "code": _column("code"),
    "citation": _column("citation"),
}


def runs_with_files(task: Task) -> list[Run]:
    """Return the runs that the folder of a task's runs has, in its order."""
    submitted = Run.objects.submitted().filter(task=task).order_by("pk")
    return list(submitted.select_related("team", "upload", "task__lab"))


def run_files(task: Task, runs: Sequence[Run] | None = None) -> Iterator[tuple[str, bytes]]:
    """Yield the path and the content of each submitted run, unpacked, after those of a manifest.

    Beside each run are its details as ir_metadata. `runs` are fewer runs, or with other facts.
    """
    if runs is None:
        runs = runs_with_files(task)
    paths = {run.pk: _path_in_archive(run, number) for number, run in enumerate(runs, 1)}
    columns = {name: column.of for name, column in RUN_COLUMNS.items()}
    columns["file"] = lambda run: paths[run.pk]
    yield "manifest.tsv", b"".join(tsv_lines(columns, runs, exact=True))
    for run in runs:
        yield paths[run.pk], _run_file(run)
        yield metadata_name(paths[run.pk]), write_ir_metadata(run)


def _path_in_archive(run: Run, number: int) -> str:
    name = safe_name(run.file_name).removesuffix(".gz")
    return f"{slugify(run.team.name) or 'team'}/{number}-{name}"


def _run_file(run: Run) -> bytes:
    """Return the unpacked run file, or the upload as it came if it cannot be unpacked."""
    try:
        return run_bytes(run)
    except UploadRefusedError:
        with run.upload.file.open("rb") as file:
            return bytes(file.read())


@dataclass(frozen=True)
class FoundRun:
    """A run file of a folder: what its name and the manifest say, and where to report a problem.

    `stored` has the fields of `Run` that no team gives, such as the time of the submission.
    `holds_tag` is False for a run that was withdrawn or invalid, whose tag another may have.
    """

    file: SourcePath
    name: str
    source: str
    line: int | None
    team: str
    metadata: RunMetadata
    stored: Mapping[str, object] = field(default_factory=dict)
    holds_tag: bool = True

    @property
    def key(self) -> tuple[str, str]:
        """Return what names the run in its task: the team without case and spaces, and the tag."""
        team = "" if self.metadata.is_baseline else team_key(self.team)
        return team, self.metadata.tag

    def problem(self, actual: str, expected: str, todo: str) -> Problem:
        """Return a problem of the run with its file and line."""
        return Problem(self.source, self.line, actual, expected, todo)


def load_runs(
    *,
    task: Task,
    folder: SourceFolder,
    by: User | None,
    at: datetime,
    each: Callable[[list[FoundRun]], Iterator[FoundRun]] = iter,
) -> list[str]:
    """Submit and check the runs of a folder for their teams, without quota and deadline.

    The folder has run files with the names of protocol §4, ir_metadata (`take_ir_metadata`), or a
    manifest (`MANIFESTS`) with columns of `RUN_COLUMNS`, of which `file` is needed and which goes
    before the others. Missing teams are created; runs that the task has
    already are left out, so that an interrupted load can be repeated. `each` yields the runs and
    may report the progress. Return sentences. Raise `FileRefusedError` with every problem, and then
    store nothing, or `UserError` for a run that the lab has no room for.
    """
    runs = find_runs(task, folder)
    new = new_runs(task, runs)
    teams, created = _teams(task, new, by)
    keys = []
    for run in each(new):
        keys.append(_submit(run, Sender(task, teams[run.key[0]], by, at, loads=True)))
        validate_uploaded_run(run_id=keys[-1], at=at)
    invalid = Run.objects.filter(pk__in=keys, status=Run.Status.INVALID).count()
    lines = [f"{counted(len(new), 'run')} loaded, {len(runs) - len(new)} unchanged."]
    lines += [f"Created the teams {', '.join(created)}."] if created else []
    return lines + ([f"{counted(invalid, 'run')} with errors: see the reports."] if invalid else [])


def find_runs(task: Task, folder: SourceFolder) -> list[FoundRun]:
    """Return the runs of a folder, in the order of its manifest and then of their names.

    Raise `FileRefusedError` with every problem of the manifest and of the files' names.
    """
    files = folder.files(hidden=False)
    problems: list[Problem] = []
    described = take_ir_metadata(files, problems)
    runs: list[FoundRun] = []
    for manifest in [name for name in files if PurePosixPath(name).name in MANIFESTS]:
        manifest_problems, file = FileProblems(manifest), files.pop(manifest)
        try:
            runs += list(_rows(file, files, manifest_problems, described))
        except csv.Error as error:
            manifest_problems.add(
                None, f"a cell that cannot be read ({error})", "a table", "Correct the file."
            )
        problems += manifest_problems
    listed = {run.file for run in runs}
    for name, file in files.items():
        if file not in listed:
            own_name = PurePosixPath(name).name
            runs.append(_found(file, own_name, name, None, described.get(file, {})))
    if not runs and not problems:
        todo = "Choose the folder or the archive that has them."
        problems = [Problem(folder.root.name, None, "no run files", "at least one", todo)]
    slugs = task.lab.tasks.exclude(pk=task.pk).values_list("slug", flat=True)
    problems += [problem for run in runs for problem in _faults(run, task.slug, {*slugs})]
    if problems:
        raise FileRefusedError(problems)
    return runs


def _faults(run: FoundRun, task: str, others: set[str]) -> Iterator[Problem]:
    if not run.team and not run.metadata.is_baseline:
        todo = f"Rename the file as TEAM-{task}-TAG, or name the team in metadata.csv."
        yield run.problem(f"no team of {run.name}", "the name of its team", todo)
    if run.line is None and (named := read_name(run.name).task) in others:
        todo = f"Load the file as a run of {named}, or remove it."
        yield run.problem(f"a run of {named}", f"a run of {task}", todo)
    with run.file.stream() as file:
        if first_bytes(file).startswith(ZIP):
            todo = "Unpack the archive, or load it on its own."
            yield run.problem(f"the archive {run.name}", "a run file", todo)


def _found(
    file: SourcePath, name: str, source: str, line: int | None, values: Mapping[str, object]
) -> FoundRun:
    """Return a run with the details that are given, and others from the name of its file."""
    described: dict[str, Any] = {key: value for key, value in values.items() if key in _DESCRIBED}
    stored = {key: value for key, value in values.items() if key not in {*_DESCRIBED, "team"}}
    team = str(values.get("team") or read_name(name).team or "")
    metadata = replace(metadata_from_name(name), **described)
    return FoundRun(file, name, source, line, team, metadata, stored)


def _rows(
    manifest: SourcePath,
    files: Mapping[str, SourcePath],
    problems: FileProblems,
    described: Mapping[SourcePath, Mapping[str, object]],
) -> Iterator[FoundRun]:
    source = PurePosixPath(manifest.name)
    text = io.StringIO(source_text(manifest.content(), path=manifest.name), newline="")
    reader = csv.DictReader(text, delimiter=MANIFESTS[source.name])
    names = [str(name).strip().lower() for name in reader.fieldnames or []]
    reader.fieldnames = names
    if unknown := sorted({*names} - {*RUN_COLUMNS} | ({"file"} - {*names})):
        expected = f"the column file, and others of {', '.join(RUN_COLUMNS)}"
        problems.add(1, f"missing or unknown: {', '.join(unknown)}", expected, "Correct them.")
        return
    above = source.parent
    for number, cells in enumerate(reader, 1):
        line = reader.line_num
        if None in cells:
            problems.add(
                line, "more cells than columns", f"{len(names)} cells", "Correct the line."
            )
            continue
        row = {name: (cells[name] or "").strip() for name in names}
        named = [
            name for name in files if PurePosixPath(name).name == PurePosixPath(row["file"]).name
        ]
        exact = (above / row["file"]).as_posix()
        file = files.get(exact) or (files[named[0]] if len(named) == 1 else None)
        values = _values(row, line, problems)
        if file is None:
            todo = "Add the file, or remove its line."
            problems.add(line, f"no file {row['file'][:80]!r}", "a run file of the folder", todo)
            continue
        # An export numbers the files.
        name = PurePosixPath(file.name).name.removeprefix(f"{number}-")
        team = {"team": row["team"]} if row.get("team") else {}
        run = _found(file, name, manifest.name, line, {**described.get(file, {}), **values, **team})
        is_over = bool(row.get("withdrawn")) or row.get("status") == Run.Status.INVALID
        yield replace(run, holds_tag=not is_over)


def _values(row: Mapping[str, str], line: int, problems: FileProblems) -> dict[str, object]:
    """Return the fields that a row fills. An empty flag is no; other empty cells say nothing."""
    values: dict[str, object] = {}
    for name, cell in row.items():
        column = RUN_COLUMNS[name]
        if not cell and column.field.startswith("is_"):
            values[column.field] = False
        elif cell and column.field:
            try:
                values[column.field] = column.read(cell)
            except (ValueError, KeyError, OverflowError):
                todo = "Correct it, or leave the cell empty."
                problems.add(line, f"the {name} {cell[:80]!r}", column.expected, todo)
    return values


def new_runs(task: Task, candidates: list[FoundRun]) -> list[FoundRun]:
    """Return the runs that the task does not have. Raise `FileRefusedError` for tags in use."""
    runs = Run.objects.filter(task=task).select_related("team", "upload")
    stored = Counter(
        (_key(run), sha256)
        for run in runs.submitted()
        for sha256 in {run.sha256, run.upload.sha256}
    )
    used_tags = {_key(run) for run in runs.holding_tags()}
    new, problems = [], []
    for one in candidates:
        with one.file.stream() as file:
            content = (one.key, hashlib.file_digest(file, "sha256").hexdigest())
        if stored[content]:
            stored[content] -= 1
            continue
        if one.holds_tag and one.key in used_tags:
            todo = "Give each run its own tag, or withdraw the earlier run."
            actual = f"the tag {one.metadata.tag} of {one.team} again"
            problems.append(one.problem(actual, "a tag that the team has not used", todo))
        if one.holds_tag:
            used_tags.add(one.key)
        new.append(one)
    if problems:
        raise FileRefusedError(problems)
    return new


def _key(run: Run) -> tuple[str, str]:
    """Return what `FoundRun.key` returns for the file of a run."""
    return "" if run.is_baseline else team_key(run.team.name), run.tag


@transaction.atomic
def _teams(task: Task, runs: list[FoundRun], by: User | None) -> tuple[dict[str, Team], list[str]]:
    """Return the teams of runs by the first part of `FoundRun.key`, and the names of new ones."""
    teams = {team_key(team.name): team for team in task.lab.teams.filter(is_lab=False)}
    created = []
    for run in runs:
        key = run.key[0]
        if key not in teams:
            if run.metadata.is_baseline:
                teams[key] = lab_team(task.lab)
                continue
            created.append(run.team)
            teams[key] = create_team(
                lab=task.lab, name=run.team, by=by, joins=False, confirmed=True
            )
    return teams, created


@transaction.atomic
def _submit(one: FoundRun, sender: Sender) -> int:
    with one.file.stream() as opened:
        file = File(opened, name=one.name)
        [run] = take_uploads(files=[file], sender=sender, metadata={one.name: one.metadata})
    stored = dict(one.stored)
    named = Run.objects.filter(task__lab=sender.task.lab_id, identifier=stored.get("identifier"))
    if named.exists():
        del stored["identifier"]
    if stored.get("is_post_hoc"):
        stored["is_primary"] = False
    Run.objects.filter(pk=run.pk).update(**{"is_post_hoc": False} | stored)
    return run.pk
