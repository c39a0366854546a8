"""The list of questions that organizers chose to make topics of: a CSV, all mistakes of which are told by line."""

import csv
import io
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from arqlab.ir.records import FileRefusedError, Problem, TaskKind
from arqlab.ir.sourcetext import source_text
from arqlab.ir.topicfacts import fact_value, info_fields

_POST = ("postid", "id", "question", "questionid")
_NUMBER = ("topic", "number", "topicnumber")
_FORMULA = ("formulaid", "queryformula")


class ChosenQuestion(NamedTuple):
    """A question that is to be a topic. Number and query formula are None where the list leaves them open."""

    line: int
    post_id: str
    number: int | None
    formula_id: str | None
    facts: Mapping[str, str]


def read_chosen(data: bytes, *, path: str) -> list[ChosenQuestion]:
    """Read the list. Columns: post_id and, where wanted, topic, formula_id, and those of topic information.

    Other columns are passed over, so that a list of candidates can be cut down and given as it is.
    Raises FileRefusedError with every problem: no column of posts, a row without post, a post or a number twice.
    """
    rows = csv.reader(io.StringIO(source_text(data, path=path), newline=""))
    header = [re.sub("[^a-z0-9]", "", name.lower()) for name in next(rows, [])]
    at = {name: _place(header, names) for name, names in (("post", _POST), ("number", _NUMBER), ("formula", _FORMULA))}
    if at["post"] is None:
        found, todo = f"the columns {', '.join(header)[:80]}", "Name the column of the questions post_id."
        raise FileRefusedError([Problem(path, 1, found, "a column post_id", todo)])
    fields = [*info_fields(TaskKind.ANSWERS), *info_fields(TaskKind.FORMULAS)]
    facts_at = {name: _place(header, (name.replace("_", ""),)) for name in fields}
    chosen: list[ChosenQuestion] = []
    problems: list[Problem] = []
    for line, cells in _lines(rows, path, problems):
        number = _cell(cells, at["number"])
        facts = {name: fact_value(name, _cell(cells, place)) for name, place in facts_at.items()}
        if number and not re.fullmatch(r"(?:[AB]\.)?[0-9]{1,6}", number):
            expected, todo = "a number like 401 or A.401", "Correct the number, or leave it empty."
            problems.append(Problem(path, line, f"the topic number {number[:80]!r}", expected, todo))
            number = ""
        chosen.append(
            ChosenQuestion(
                line,
                _cell(cells, at["post"]),
                int(number.rpartition(".")[2]) if number else None,
                _cell(cells, at["formula"]) or None,
                {name: value for name, value in facts.items() if value},
            )
        )
    problems += _repeated(chosen, path)
    if not chosen and not problems:
        problems.append(Problem(path, None, "no question", "one question at least", "List the questions, one a line."))
    if problems:
        raise FileRefusedError(sorted(problems, key=lambda one: one.line or 0))
    return chosen


def _place(header: list[str], names: tuple[str, ...]) -> int | None:
    return next((header.index(name) for name in names if name in header), None)


def _cell(cells: list[str], at: int | None) -> str:
    return cells[at].strip() if at is not None and at < len(cells) else ""


def _lines(rows: "Iterator[list[str]]", path: str, problems: list[Problem]) -> Iterator[tuple[int, list[str]]]:
    try:
        for cells in rows:
            if any(cell.strip() for cell in cells):
                yield getattr(rows, "line_num", 0), cells
    except csv.Error as error:
        line = getattr(rows, "line_num", 0)
        problems.append(Problem(path, line, f"broken CSV ({error})", "cells that can be read", "Correct the line."))


def _repeated(chosen: list[ChosenQuestion], path: str) -> Iterator[Problem]:
    posts: dict[str, int] = {}
    numbers: dict[int, int] = {}
    for one in chosen:
        if not one.post_id:
            yield Problem(path, one.line, "no post", "the id of a question", "Fill the cell, or take the line out.")
        elif one.post_id in posts:
            found = f"the question {one.post_id} again, after line {posts[one.post_id]}"
            yield Problem(path, one.line, found, "each question once", "Take one of the two out.")
        if one.number is not None and one.number in numbers:
            found = f"the topic number {one.number} again, after line {numbers[one.number]}"
            yield Problem(path, one.line, found, "each number once", "Give the topic another number.")
        posts.setdefault(one.post_id, one.line)
        if one.number is not None:
            numbers.setdefault(one.number, one.line)
