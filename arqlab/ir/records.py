"""The records of the field, as plain values: what runs, topics and qrels are made of."""

from enum import StrEnum
from typing import NamedTuple

LONGEST_ID = 300
"""Characters of the id of an item, in files and in tables."""


class Severity(StrEnum):
    """How bad a problem of a file is: an error refuses it, a warning is odd, a note is only said."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class TaskKind(StrEnum):
    """What a task asks for (protocol §4): Task 1 answers, Task 2 formulas, Task 3 written answers."""

    ANSWERS = "answers"
    FORMULAS = "formulas"
    WRITTEN_ANSWERS = "written-answers"


class ItemKind(StrEnum):
    """What the item (doc_id) of a run or of qrels is."""

    POSTS = "posts"
    FORMULA_IDS = "formula-ids"
    VISUAL_IDS = "visual-ids"
    ANSWERS = "answers"


class TopicRecord(NamedTuple):
    """One information need. Title and body are the source's HTML, unescaped once; a Task 2 topic
    has its formula too.
    """

    query_id: str
    title: str
    body: str
    tags: tuple[str, ...] = ()
    formula_id: str | None = None
    latex: str | None = None


class Problem(NamedTuple):
    """One mistake in somebody's file: where it is, what was found, what was expected, what to do."""

    path: str
    line: int | None
    found: str
    expected: str
    todo: str

    def __str__(self) -> str:
        """Return the problem as one sentence for a person, led by `file:line`."""
        place = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{place}: found {self.found}; expected {self.expected}. {self.todo}"


class FileRefusedError(Exception):
    """A file cannot be read as what it should be. Holds every problem of it, not the first."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)
