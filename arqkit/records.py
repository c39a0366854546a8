"""Records that all file formats share: kinds of tasks and items, topics, problems of files."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple, Self

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
    """A topic: title and body are the source's HTML, unescaped once; Task 2 has a formula.

    The scenario of a query and its criteria of relevance are plain texts with LaTeX (003 §2).
    """

    query_id: str
    title: str
    body: str
    tags: tuple[str, ...] = ()
    formula_id: str | None = None
    latex: str | None = None
    scenario: str = ""
    criteria: str = ""


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


class ServerRefusedError(Exception):
    """A server refused a request. The message has its words, and every problem that it found.

    `status` is that of HTTP, `code` the server's name of the error.
    """

    def __init__(self, message: str, *, status: int, code: str) -> None:
        """Keep what the server said."""
        super().__init__(message)
        self.status, self.code = status, code


class UnreachableError(Exception):
    """A server did not answer. The message says what to check."""


class FileRefusedError(Exception):
    """A file that cannot be read in the expected format; holds all of its problems."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)

    @classmethod
    def of(
        cls, path: str, actual: str, expected: str, todo: str, *, line: int | None = None
    ) -> Self:
        """Return the error of a file with a single problem."""
        return cls([Problem(path, line, actual, expected, todo)])


class FileProblems(list[Problem]):
    """The problems of one file, collected while it is read."""

    def __init__(self, path: str) -> None:
        """Start without any problem; `path` names the file."""
        super().__init__()
        self.path = path

    def add(self, line: int | None, actual: str, expected: str, todo: str) -> None:
        """Add a problem: what was found on a line, what was expected, and what to do."""
        self.append(Problem(self.path, line, actual, expected, todo))

    def refuse_any(self) -> None:
        """Raise FileRefusedError with all problems by line, if there are any."""
        if self:
            raise FileRefusedError(sorted(self, key=lambda problem: problem.line or 0))


class ItemWords(NamedTuple):
    """The words for a kind of item: one as assessors see it, several in a run, and its id."""

    one: str
    ids: str
    an_id: str


class TaskWords(NamedTuple):
    """The words for a kind of task, and whether its topics and items come from threads.

    `retrieved` is what a row of a run has, `topic` what is shown beside an item.
    """

    retrieved: str
    topic: str = "question"
    has_threads: bool = True
    has_instances: bool = False
    """Whether an item may have several instances, each with its own label."""


ITEM_WORDS: Mapping[ItemKind, ItemWords] = MappingProxyType(
    {
        ItemKind.POSTS: ItemWords("post", "posts", "a post id"),
        ItemKind.FORMULA_IDS: ItemWords("formula", "formula ids", "a formula id"),
        ItemKind.VISUAL_IDS: ItemWords("formula", "visual ids", "a visual id"),
        ItemKind.ANSWERS: ItemWords("generated answer", "generated answers", "an answer"),
        ItemKind.DOCUMENTS: ItemWords("document", "documents", "a document id"),
    }
)
TASK_WORDS: Mapping[TaskKind, TaskWords] = MappingProxyType(
    {
        TaskKind.ANSWERS: TaskWords("an answer post of the collection"),
        TaskKind.FORMULAS: TaskWords(
            "a formula in a question or answer post of the collection", has_instances=True
        ),
        TaskKind.GENERATED_ANSWERS: TaskWords("an answer generated by your system"),
        TaskKind.DOCUMENTS: TaskWords(
            "a document or paragraph of the collection", "topic", has_threads=False
        ),
    }
)
