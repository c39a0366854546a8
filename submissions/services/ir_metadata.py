"""The metadata of runs by ir_metadata 0.1 (Breuer, Keller & Schaer, SIGIR 2022).

Its parts are those of PRIMAD.
"""

import re
from collections.abc import Mapping
from pathlib import PurePosixPath

import yaml
from django.core.exceptions import ValidationError
from django.core.validators import URLValidator

from arqkit.formats.archives.folders import SourcePath
from arqkit.formats.nested import DEEPEST, TOO_DEEP
from arqkit.formats.source_text import source_text
from arqkit.records import FileProblems, FileRefusedError, Problem
from submissions.models import Run
from submissions.services.run_metadata import TAG_LENGTH

OF_A_RUN = re.compile(r"(?P<run>.+)\.ir[-_]metadata\.ya?ml", re.IGNORECASE)
"""The name of the file that is beside its run: `run.tsv.ir_metadata.yml`."""
IR_METADATA = re.compile(r"(^|[./])ir[-_]metadata\.ya?ml$", re.IGNORECASE)
"""The path of such a file, or of one that is in the folder of its run, as TIRA has them."""
_EDGES = re.compile(r"^#? ?ir_metadata\.(start|end)\s*$", re.MULTILINE)
_TEXT = "a text"


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
    return yaml_of(facts)


def yaml_of(facts: Mapping[str, object]) -> bytes:
    """Return facts as YAML, without those that are blank."""
    return yaml.safe_dump(_without_blanks(facts), sort_keys=False, allow_unicode=True).encode()


def _without_blanks(facts: Mapping[str, object]) -> dict[str, object]:
    cleaned = {
        name: _without_blanks(value) if isinstance(value, dict) else value
        for name, value in facts.items()
    }
    return {name: value for name, value in cleaned.items() if value not in ("", {})}


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


def read_ir_metadata(data: bytes, *, path: str) -> dict[str, object]:
    """Return what ir_metadata says of a run, by the fields of `Run`, and its `team`.

    It may stand between `ir_metadata.start` and `ir_metadata.end`, as comments of a run file do.
    Other fields are left out. Raise FileRefusedError with every problem.
    """
    problems = FileProblems(path)
    values: dict[str, object] = {}
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
        value: object = facts
        for name in place:
            value = value.get(name) if isinstance(value, dict) else None
        if value in (None, ""):
            continue
        try:
            values[field] = read(value)
        except (ValueError, ValidationError):
            what = f"{' → '.join(place)}: {str(value)[:80]!r}"
            problems.add(None, what, expected, "Correct it, or leave it out.")
    problems.refuse_any()
    return values


def _yaml_values(text: str) -> object:
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
) -> dict[SourcePath, dict[str, object]]:
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
