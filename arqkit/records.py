"""Records that all file formats share: kinds of tasks and items, topics, problems of files."""

from enum import StrEnum
from typing import NamedTuple

LONGEST_ID = 300
"""The most characters of an item's id, in files and in tables."""


class Severity(StrEnum):
    """The severity of a problem: an error refuses the file; warnings and notes do not."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class TaskKind(StrEnum):
    """What a task retrieves (protocol §4): answers, formulas, generated answers (Tasks 1 to 3), or
    documents and paragraphs, as NTCIR did from arXiv.
    """

    ANSWERS = "answers"
    FORMULAS = "formulas"
    GENERATED_ANSWERS = "written-answers"  # the value in databases and lab.toml is older
    DOCUMENTS = "documents"


class ItemKind(StrEnum):
    """The kind of item (doc_id) in a run or in qrels."""

    POSTS = "posts"
    FORMULA_IDS = "formula-ids"
    VISUAL_IDS = "visual-ids"
    ANSWERS = "answers"
    DOCUMENTS = "documents"


class TopicRecord(NamedTuple):
    """A topic: title and body are the source's HTML, unescaped once; Task 2 has a formula."""

    query_id: str
    title: str
    body: str
    tags: tuple[str, ...] = ()
    formula_id: str | None = None
    latex: str | None = None


class Problem(NamedTuple):
    """A problem in a user's file: where it is, what was found, what was expected and what to do."""

    path: str
    line: int | None
    found: str
    expected: str
    todo: str

    def __str__(self) -> str:
        """Return the problem as one sentence that begins with `file:line`."""
        place = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{place}: found {self.found}; expected {self.expected}. {self.todo}"


class FileRefusedError(Exception):
    """A file that cannot be read in the expected format; holds all of its problems."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)
