"""The list of questions that organizers chose to make topics of: a CSV, all mistakes of which are
told by line.
"""

import csv
import io
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from arqlab.formats.source_text import source_text
from arqlab.ir.records import FileRefusedError, Problem, TaskKind
from arqlab.ir.topics import info_fields, normalized_value

_POST = ("postid", "id", "question", "questionid")
_NUMBER = ("topic", "number", "topicnumber")
_FORMULA = ("formulaid", "queryformula")
_TOPIC = re.compile(r"(?:[AB]\.)?[0-9]{1,6}")
_FIELDS = (*info_fields(TaskKind.ANSWERS), *info_fields(TaskKind.FORMULAS))


class ChosenQuestion(NamedTuple):
    """A question that is to be a topic. Topic number and query formula are empty where the list
    leaves them open.
    """

    line: int
    post_id: str
    topic: str
    formula_id: str
    facts: Mapping[str, str]

    @property
    def number(self) -> int | None:
        """Return the number that the topic is to have, without the letter of its task."""
        return int(self.topic.rpartition(".")[2]) if _TOPIC.fullmatch(self.topic) else None


def read_chosen(data: bytes, *, path: str) -> list[ChosenQuestion]:
    """Read the list. Columns: post_id and, where wanted, topic, formula_id, and those of topic
    information.

    Other columns are passed over, so that a list of candidates can be cut down and given as it is.
    Raises FileRefusedError with every problem: no column of posts, a row without post, a post or a
    number twice.
    """
    rows = csv.reader(io.StringIO(source_text(data, path=path), newline=""))
    header = [re.sub("[^a-z0-9]", "", name.lower()) for name in next(rows, [])]
    if _place(header, _POST) is None:
        found, todo = (
            f"the columns {', '.join(header)[:80]}",
            "Name the column of the questions post_id.",
        )
        raise FileRefusedError([Problem(path, 1, found, "a column post_id", todo)])
    problems: list[Problem] = []
    chosen = [_question(line, cells, header) for line, cells in _lines(rows, path, problems)]
    problems += _bad_numbers(chosen, path)
    problems += _repeated(chosen, path)
    if not chosen and not problems:
        problems.append(
            Problem(
                path,
                None,
                "no question",
                "one question at least",
                "List the questions, one a line.",
            )
        )
    if problems:
        raise FileRefusedError(sorted(problems, key=lambda one: one.line or 0))
    return chosen


def _question(line: int, cells: list[str], header: list[str]) -> ChosenQuestion:
    def cell(names: tuple[str, ...]) -> str:
        at = _place(header, names)
        return cells[at].strip() if at is not None and at < len(cells) else ""

    facts = {name: normalized_value(name, cell((name.replace("_", ""),))) for name in _FIELDS}
    known = {name: value for name, value in facts.items() if value}
    return ChosenQuestion(line, cell(_POST), cell(_NUMBER), cell(_FORMULA), known)


def _bad_numbers(chosen: list[ChosenQuestion], path: str) -> Iterator[Problem]:
    for one in chosen:
        if one.topic and not _TOPIC.fullmatch(one.topic):
            expected, todo = "a number like 401 or A.401", "Correct the number, or leave it empty."
            yield Problem(path, one.line, f"the topic number {one.topic[:80]!r}", expected, todo)


def _place(header: list[str], names: tuple[str, ...]) -> int | None:
    return next((header.index(name) for name in names if name in header), None)


def _lines(
    rows: "Iterator[list[str]]", path: str, problems: list[Problem]
) -> Iterator[tuple[int, list[str]]]:
    try:
        for cells in rows:
            if any(cell.strip() for cell in cells):
                yield getattr(rows, "line_num", 0), cells
    except csv.Error as error:
        line = getattr(rows, "line_num", 0)
        problems.append(
            Problem(
                path, line, f"broken CSV ({error})", "cells that can be read", "Correct the line."
            )
        )


def _repeated(chosen: list[ChosenQuestion], path: str) -> Iterator[Problem]:
    posts: dict[str, int] = {}
    numbers: dict[int, int] = {}
    for one in chosen:
        if not one.post_id:
            yield Problem(
                path,
                one.line,
                "no post",
                "the id of a question",
                "Fill the cell, or take the line out.",
            )
        elif one.post_id in posts:
            found = f"the question {one.post_id} again, after line {posts[one.post_id]}"
            yield Problem(path, one.line, found, "each question once", "Take one of the two out.")
        if one.number is not None and one.number in numbers:
            found = f"the topic number {one.number} again, after line {numbers[one.number]}"
            yield Problem(
                path, one.line, found, "each number once", "Give the topic another number."
            )
        posts.setdefault(one.post_id, one.line)
        if one.number is not None:
            numbers.setdefault(one.number, one.line)
