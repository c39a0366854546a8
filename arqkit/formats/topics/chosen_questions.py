"""Read the CSV list of questions that organizers chose as topics, and report every mistake."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from arqkit.formats.source_text import column_of, csv_rows, source_text
from arqkit.records import FileProblems, TaskKind
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
    problems = FileProblems(path)
    rows = list(csv_rows(source_text(data, path=path), problems))
    header = rows[0][1] if rows else []
    if column_of(_POST, header) is None:
        actual = f"the columns {', '.join(header)[:80]}"
        todo = "Rename the column with the question ids to post_id."
        problems.add(1, actual, "a column post_id", todo)
        problems.refuse_any()
    questions = [_question(line, cells, header) for line, cells in rows[1:]]
    _find_problems(questions, problems)
    if not questions and not problems:
        todo = "List the questions, one per line."
        problems.add(None, "no questions", "at least one question", todo)
    problems.refuse_any()
    return questions


def _question(line: int, cells: list[str], header: list[str]) -> ChosenQuestion:
    def cell(names: tuple[str, ...]) -> str:
        at = column_of(names, header)
        return cells[at] if at is not None and at < len(cells) else ""

    facts = {name: normalized_value(name, cell((name.replace("_", ""),))) for name in _FIELDS}
    filled = {name: value for name, value in facts.items() if value}
    return ChosenQuestion(line, cell(_POST), cell(_NUMBER), cell(_FORMULA), filled)


def _find_problems(questions: list[ChosenQuestion], problems: FileProblems) -> None:
    posts: dict[str, int] = {}
    numbers: dict[int, int] = {}
    for question in questions:
        line, post = question.line, question.post_id
        if question.topic and question.number is None:
            actual = f"the topic number {question.topic[:80]!r}"
            todo = "Correct the number, or leave it empty."
            problems.add(line, actual, "a number such as 401 or A.401", todo)
        if not post:
            todo = "Fill in the id, or remove the line."
            problems.add(line, "no post id", "the id of a question", todo)
        elif posts.setdefault(post, line) != line:
            actual = f"the question {post} again (first on line {posts[post]})"
            problems.add(line, actual, "each question once", "Remove one of the two lines.")
        if question.number is not None and numbers.setdefault(question.number, line) != line:
            actual = f"the topic number {question.number} again"
            actual += f" (first on line {numbers[question.number]})"
            problems.add(line, actual, "each number once", "Give the topic another number.")
