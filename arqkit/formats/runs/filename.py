"""Read the names of run files (protocol §4), and the published ids of their answers (§8)."""

import re
from collections.abc import Collection, Mapping
from typing import Any, Literal, NamedTuple, get_args

import polars as pl

from arqkit.formats.source_text import source_text
from arqkit.records import LONGEST_ID, FileProblems, ItemKind

DataUsed = Literal["both", "text", "math", "links"]
AnswerKind = Literal["extract", "generate"]

# The rule has hyphens. With another separator between all parts the name is as clear.
NAMES = {
    mark: re.compile(
        rf"(?P<team>.+?){mark}(?P<task>task[0-9]+)(?:{mark}(?P<rest>.+))?", re.IGNORECASE
    )
    for mark in "-_ "
}
# What browsers and file managers add to the name of a second copy.
COPY = re.compile(r"(\s*\([0-9]+\)|\s+(-\s+)?copy(\s+[0-9]+)?)+$", re.IGNORECASE)
ENDINGS = re.compile(r"(\.(tsv|txt|csv|run|res|gz|zip))+$", re.IGNORECASE)
VISUAL_IDS = re.compile(r"[._-]visual[._-]?ids?$", re.IGNORECASE)
MARKS: Mapping[str, Mapping[str, object]] = {
    "primary": {"p": True, "a": False},
    "answer_kind": {kind: kind for kind in get_args(AnswerKind)},
    "data_used": {data: data for data in get_args(DataUsed)} | {"link": "links"},
    "manual": {"manual": True, "auto": False},
}

LONGEST_FILE = 255
"""The longest name that file systems take."""
COLUMNS = "three columns: run file, topic, answer id"


class RunName(NamedTuple):
    """The parts of a file name; a missing part is None. A task is like `task1`."""

    team: str | None = None
    task: str | None = None
    tag: str | None = None
    manual: bool | None = None
    data_used: DataUsed | None = None
    answer_kind: AnswerKind | None = None
    primary: bool | None = None
    items: ItemKind | None = None


def file_stem(filename: str) -> str:
    """Return the name of a run file without folders and endings."""
    return ENDINGS.sub("", re.split(r"[\\/]", filename.strip())[-1])


def read_name(filename: str) -> RunName:
    """Read a name such as `TEAM-task3-RUN-auto-both-generate-P.tsv.gz` as far as possible.

    The marks are read from the end, in any order and each once, so team and run tag may contain
    hyphens and a mark may be missing. A name without a task is a run tag. Underscores or spaces may
    take the place of the hyphens.
    """
    stem = file_stem(filename)
    items = ItemKind.VISUAL_IDS if VISUAL_IDS.search(stem) else None
    stem = COPY.sub("", VISUAL_IDS.sub("", stem))
    matches = ((mark, pattern.fullmatch(stem)) for mark, pattern in NAMES.items())
    mark, parts = next(((mark, match) for mark, match in matches if match), ("", None))
    if not parts:
        return RunName(tag=stem or None, items=items)
    words = (parts["rest"] or "").split(mark)
    marks: dict[str, Any] = {}
    while len(words) > 1 and (kind := _kind_of(words[-1])) is not None and kind not in marks:
        marks[kind] = MARKS[kind][words.pop().lower()]
    return RunName(
        team=parts["team"],
        task=parts["task"].lower(),
        tag=mark.join(words) or None,
        items=items,
        **marks,
    )


def _kind_of(word: str) -> str | None:
    return next((kind for kind, words in MARKS.items() if word.lower() in words), None)


def read_answer_ids(
    data: bytes, *, path: str, topics: Collection[str] | None = None
) -> pl.DataFrame:
    """Read lines of run file, topic and answer id (tab-separated, no header), in the file's order.

    The names of run files lose their endings. `topics` has the known topics. Raise FileRefusedError
    with every problem of the file.
    """
    rows: dict[tuple[str, str], tuple[int, str]] = {}
    problems = FileProblems(path)
    for line, text in enumerate(source_text(data, path=path).split("\n"), start=1):
        cells = [cell.strip() for cell in text.split("\t")]
        if not text.strip():
            continue
        if len(cells) != 3 or not all(cells):
            todo = "Write run file, topic and answer id, separated by tabs."
            problems.add(line, f"{text.strip()[:80]!r}", COLUMNS, todo)
            continue
        run, topic, answer = file_stem(cells[0]), cells[1], cells[2]
        if topics is not None and topic not in topics:
            todo = "Correct the topic, or add it to the topics file."
            problems.add(line, f"the topic {topic}", "a topic of the task", todo)
        if len(run) > LONGEST_FILE or len(answer) > LONGEST_ID:
            expected = f"names of at most {LONGEST_FILE} and ids of at most {LONGEST_ID} characters"
            problems.add(line, f"{answer[:80]!r}", expected, "Check the columns of the line.")
        first_line, _ = rows.setdefault((run, topic), (line, answer))
        if first_line != line:
            actual = f"{run} and topic {topic} again (first on line {first_line})"
            todo = "Keep the line with the right id."
            problems.add(line, actual, "one answer id per run and topic", todo)
    problems.refuse_any()
    columns = [(run, topic, answer) for (run, topic), (_, answer) in rows.items()]
    schema = dict.fromkeys(("run", "topic", "answer"), pl.String)
    return pl.DataFrame(columns, schema=schema, orient="row")
