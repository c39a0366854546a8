"""Runs and collections as other tools of the field read them: TREC, ir_metadata, ir_datasets, TIRA.

The metadata of a run follow ir_metadata 0.1 (Breuer, Keller & Schaer, SIGIR 2022), whose parts are
those of PRIMAD.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

import polars as pl
import yaml
from django.core.exceptions import ValidationError
from django.core.validators import URLValidator
from django.template.loader import render_to_string

from arqkit.formats.archives.folders import SourcePath
from arqkit.formats.nested import DEEPEST, TOO_DEEP
from arqkit.formats.qrels.read import write_qrels
from arqkit.formats.runs.writing import run_of_ranking
from arqkit.formats.source_text import source_text
from arqkit.records import FileProblems, FileRefusedError, Problem
from arqlab.core.models import Task
from assessment.models import QrelSet
from assessment.qrels.selectors.versions import qrels_frame, qrels_named
from collection.selectors.collections import collection_of
from evaluation.selectors.boards import released_leaderboard
from evaluation.selectors.records import recorded_qrels, recorded_topics
from evaluation.services.scoring import comparable_indexes
from submissions.models import Run
from submissions.services.run_metadata import TAG_LENGTH

OF_A_RUN = re.compile(r"(?P<run>.+)\.ir[-_]metadata\.ya?ml", re.IGNORECASE)
"""The name of the file that is beside its run: `run.tsv.ir_metadata.yml`."""
IR_METADATA = re.compile(r"(^|[./])ir[-_]metadata\.ya?ml$", re.IGNORECASE)
"""The path of such a file, or of one that is in the folder of its run, as TIRA has them."""
_EDGES = re.compile(r"^#? ?ir_metadata\.(start|end)\s*$", re.MULTILINE)
_TEXT = "a text"
_DEEPEST = 10**6


def metadata_name(path: str) -> str:
    """Return the path of the ir_metadata of a run file."""
    return f"{path}.ir_metadata.yml"


def write_ir_metadata(run: Run) -> bytes:
    """Return what is known about a run by ir_metadata 0.1. Nobody is asked about the platform."""
    task = run.task
    goal = {
        "venue": {"name": task.lab.name, "year": run.submitted_at.year},
        "publication": {"url": run.paper},
    }
    facts = {
        "schema-version": 0.1,
        "run-version": 1.0,
        "tag": run.tag,
        "research goal": goal,
        "implementation": {"source": {"repository": run.code}},
        "data": {
            "test collection": {
                "name": f"{task.lab.name}, {task.name}",
                "topics": "topics.xml",
                "qrels": "qrels.tsv",
                "ir_datasets": str(task),
            }
        },
        "method": {
            "name": run.tag,
            "description": run.description,
            "automatic": not run.is_manual,
            "score ties": "reverse alphabetical order",
        },
        "actor": {"team": run.team.name, "role": "experimenter"},
    }
    return _yaml(_without_blanks(facts))


def _yaml(facts: Mapping[str, Any]) -> bytes:
    return yaml.safe_dump(facts, sort_keys=False, allow_unicode=True).encode()


def _without_blanks(facts: Mapping[str, Any]) -> dict[str, Any]:
    known = {
        name: _without_blanks(value) if isinstance(value, dict) else value
        for name, value in facts.items()
    }
    return {name: value for name, value in known.items() if value not in ("", {})}


def _text(value: object) -> str:
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        raise ValueError
    return str(value).strip()


def _tag(value: object) -> str:
    if len(tag := _text(value)) > TAG_LENGTH:
        raise ValueError
    return tag


def _url(value: object) -> str:
    URLValidator()(url := _text(value))
    return url


def _automatic(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError
    return not value


READ = {
    ("tag",): ("tag", _tag, f"at most {TAG_LENGTH} characters"),
    ("actor", "team"): ("team", _text, _TEXT),
    ("research goal", "description"): ("description", _text, _TEXT),
    ("method", "description"): ("description", _text, _TEXT),
    ("research goal", "publication", "url"): ("paper", _url, "an address"),
    ("implementation", "source", "repository"): ("code", _url, "an address"),
    ("method", "automatic"): ("is_manual", _automatic, "true or false"),
}
"""The fields that are read: their field of the run, how, and what is expected."""


def read_ir_metadata(data: bytes, *, path: str) -> dict[str, Any]:
    """Return what ir_metadata says of a run, by the fields of `Run`, and its `team`.

    It may stand between `ir_metadata.start` and `ir_metadata.end`, as comments of a run file do.
    Other fields are left out. Raise FileRefusedError with every problem.
    """
    problems = FileProblems(path)
    found: dict[str, Any] = {}
    text = _EDGES.sub("", source_text(data, path=path))
    lines = text.strip("\n").split("\n")
    if all(line.startswith("#") for line in lines if line.strip()):
        text = "\n".join(line.removeprefix("#").removeprefix(" ") for line in lines)
    try:
        facts = _yaml_values(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        what = f"no YAML ({getattr(error, 'problem', None) or error})"
        problems.add(mark and mark.line + 1, what, "YAML by ir_metadata 0.1", "Correct the file.")
        facts = {}
    if not isinstance(facts, dict):
        problems.add(None, f"{str(facts)[:80]!r}", "fields such as tag: and actor:", "Add them.")
        facts = {}
    for place, (field, read, expected) in READ.items():
        value: Any = facts
        for name in place:
            value = value.get(name) if isinstance(value, dict) else None
        if value in (None, ""):
            continue
        try:
            found[field] = read(value)
        except (ValueError, ValidationError):
            what = f"{' → '.join(place)}: {str(value)[:80]!r}"
            problems.add(None, what, expected, "Correct it, or leave it out.")
    problems.refuse_any()
    return found


def _yaml_values(text: str) -> Any:
    """Return the values of a YAML text. Raise `yaml.YAMLError`, for aliases and depth too."""
    depth = 0
    # Events come one by one, so that a text is left at its first absurdity. PyYAML's own scanner
    # takes minutes for some thousand open brackets, libyaml's does not.
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.AliasEvent):  # it makes a billion words of some hundred
            raise yaml.YAMLError("an alias such as *name, which is not needed here")
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise yaml.YAMLError(TOO_DEEP)
    try:
        return yaml.load(text, Loader=yaml.CSafeLoader)
    except ValueError as error:  # a number, a day
        raise yaml.YAMLError(f"a value that cannot be read: {error}") from error


def take_ir_metadata(
    files: dict[str, SourcePath], problems: list[Problem]
) -> dict[SourcePath, dict[str, Any]]:
    """Take the ir_metadata out of the files of a folder; return what they say of each run file.

    The file of a folder belongs to the only other file in it. Problems are added to `problems`.
    """
    described = {}
    for name in [name for name in files if IR_METADATA.search(name)]:
        parts, file = PurePosixPath(name), files.pop(name)
        if beside := OF_A_RUN.fullmatch(parts.name):
            runs = [one for one in files if one == (parts.parent / beside["run"]).as_posix()]
        else:
            runs = [one for one in files if PurePosixPath(one).parent == parts.parent]
        if len(runs) != 1:
            todo = "Name it as the run file, with .ir_metadata.yml at the end, or remove it."
            problems.append(Problem(name, None, f"{len(runs)} run files of it", "one", todo))
            continue
        try:
            described[files[runs[0]]] = read_ir_metadata(file.content(), path=name)
        except FileRefusedError as refused:
            problems += refused.problems
    return described


def trec_runs(task: Task, qrels: QrelSet | None) -> Iterator[tuple[str, bytes]]:
    """Yield the valid runs of a task as trec_eval, ir_measures, trectools and TIRA read them.

    Each has a folder with run.txt in six columns and ir-metadata.yml. Items and order are those
    that the qrels score: formulas have visual ids where these have them. Runs that cannot be scored
    are left out.
    """
    if qrels is None:
        return
    runs = Run.objects.valid().filter(task=task).select_related("team", "task__lab").order_by("pk")
    for run, index in comparable_indexes(runs, qrels, qrels_frame(qrels)):
        # Of every order, also that of ranks, the scores are what trec_eval sorts by.
        ranking = index.select("topic", "item", score=_DEEPEST - pl.col("order").cast(pl.Float64))
        folder = re.sub(r"[^\w.-]+", "-", run.identifier)
        yield f"{folder}/run.txt", run_of_ranking(ranking, tag=run.identifier, limit=_DEEPEST)
        yield f"{folder}/ir-metadata.yml", write_ir_metadata(run)


def trec_files(task: Task) -> Iterator[tuple[str, bytes]]:
    """Yield the runs of a task and its qrels, released or current, for the tools of TREC."""
    released = released_leaderboard(task)
    qrels = recorded_qrels(released) if released else qrels_named(task)
    yield from trec_runs(task, qrels)
    if qrels is not None:
        yield "qrels.tsv", write_qrels(qrels_frame(qrels))


def ir_dataset_files(task: Task) -> Iterator[tuple[str, bytes]]:
    """Yield the definition of a released task for ir_datasets: a module and its documentation.

    They stand beside topics.xml and qrels.tsv.
    """
    released = released_leaderboard(task)
    if released is None:
        return
    collection, task = collection_of(task.lab), recorded_qrels(released).task
    lab = task.lab
    facts = {
        "id": str(task),
        "pretty_name": f"{lab.name}: {task.name}",
        "desc": task.description or lab.description or f"{task.name} of {lab.name}.",
        "collection": collection.slug if collection else "",
        "licence": collection.licence if collection else "",
        "qrels": released.qrel_set.name,
        "labels": {label["value"]: label["word"] for label in released.qrel_set.scale},
    }
    yield "ir_dataset.py", render_to_string("desk/ir_dataset.py.txt").encode()
    yield "ir_dataset.yaml", _yaml(_without_blanks(facts))


def ir_dataset_zip(task: Task) -> Iterator[tuple[str, bytes]]:
    """Yield the definition of a released task for ir_datasets with its topics and qrels."""
    yield from ir_dataset_files(task)
    if released := released_leaderboard(task):
        yield "topics.xml", recorded_topics(released)
        yield "qrels.tsv", write_qrels(qrels_frame(released.qrel_set))
