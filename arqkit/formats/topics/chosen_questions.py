"""Read the CSV list of questions that organizers chose as topics, and report every mistake."""

import csv
import io
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from arqkit.formats.source_text import source_text
from arqkit.records import FileRefusedError, Problem, TaskKind
from arqkit.topics import info_fields, normalized_value

_POST = ("postid", "id", "question", "questionid")
_NUMBER = ("topic", "number", "topicnumber")
_FORMULA = ("formulaid", "queryformula")
_TOPIC = re.compile(r"(?:[AB]\.)?[0-9]{1,6}")
_FIELDS = (*info_fields(TaskKind.ANSWERS), *info_fields(TaskKind.FORMULAS))


class ChosenQuestion(NamedTuple):
    """A question to make a topic of. Topic number and query formula may be empty."""

    line: int
    post_id: str
    topic: str
    formula_id: str
    facts: Mapping[str, str]

    @property
    def number(self) -> int | None:
        """Return the number of the topic, without the letter of its task."""
        return int(self.topic.rpartition(".")[2]) if _TOPIC.fullmatch(self.topic) else None


def read_chosen(data: bytes, *, path: str) -> list[ChosenQuestion]:
    """Read the list: post_id and optionally topic, formula_id and the columns of topic information.

    Other columns are ignored, so that a shortened list of candidates can be used as it is. Raise
    FileRefusedError with every problem: no column of posts, a row without a post, a repeated post
    or number.
    """
    rows = csv.reader(io.StringIO(source_text(data, path=path), newline=""))
    header = [re.sub("[^a-z0-9]", "", name.lower()) for name in next(rows, [])]
    if _place(header, _POST) is None:
        actual, todo = (
            f"the columns {', '.join(header)[:80]}",
            "Rename the column with the question ids to post_id.",
        )
        raise FileRefusedError([Problem(path, 1, actual, "a column post_id", todo)])
    problems: list[Problem] = []
    chosen = [_question(line, cells, header) for line, cells in _lines(rows, path, problems)]
    problems += _bad_numbers(chosen, path)
    problems += _repeated(chosen, path)
    if not chosen and not problems:
        problems.append(
            Problem(
                path,
                None,
                "no questions",
                "at least one question",
                "List the questions, one per line.",
            )
        )
    if problems:
        raise FileRefusedError(sorted(problems, key=lambda problem: problem.line or 0))
    return chosen


def _question(line: int, cells: list[str], header: list[str]) -> ChosenQuestion:
    def cell(names: tuple[str, ...]) -> str:
        at = _place(header, names)
        return cells[at].strip() if at is not None and at < len(cells) else ""

    facts = {name: normalized_value(name, cell((name.replace("_", ""),))) for name in _FIELDS}
    known = {name: value for name, value in facts.items() if value}
    return ChosenQuestion(line, cell(_POST), cell(_NUMBER), cell(_FORMULA), known)


def _bad_numbers(chosen: list[ChosenQuestion], path: str) -> Iterator[Problem]:
    for question in chosen:
        if question.topic and not _TOPIC.fullmatch(question.topic):
            expected, todo = (
                "a number such as 401 or A.401",
                "Correct the number, or leave it empty.",
            )
            yield Problem(
                path, question.line, f"the topic number {question.topic[:80]!r}", expected, todo
            )


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
            Problem(path, line, f"invalid CSV ({error})", "valid CSV", "Correct the line.")
        )


def _repeated(chosen: list[ChosenQuestion], path: str) -> Iterator[Problem]:
    posts: dict[str, int] = {}
    numbers: dict[int, int] = {}
    for question in chosen:
        if not question.post_id:
            yield Problem(
                path,
                question.line,
                "no post id",
                "the id of a question",
                "Fill in the id, or remove the line.",
            )
        elif question.post_id in posts:
            actual = (
                f"the question {question.post_id} again (first on line {posts[question.post_id]})"
            )
            yield Problem(
                path, question.line, actual, "each question once", "Remove one of the two lines."
            )
        if question.number is not None and question.number in numbers:
            line = numbers[question.number]
            actual = f"the topic number {question.number} again (first on line {line})"
            yield Problem(
                path, question.line, actual, "each number once", "Give the topic another number."
            )
        posts.setdefault(question.post_id, question.line)
        if question.number is not None:
            numbers.setdefault(question.number, question.line)
