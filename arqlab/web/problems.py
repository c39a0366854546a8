"""The report of the problems of a file: where, found, expected, what to do."""

from collections.abc import Iterable
from typing import Any, Protocol

from django.core.paginator import Page

from arqlab.web.cells import COUNT, ID, TEXT
from arqlab.web.tables import Column, Table


class ReportedProblem(Protocol):
    """A problem of the kernel, which has a `path`, or of a job, which has a `source`."""

    @property
    def line(self) -> int | None:
        """Return the line of the file, None for all of it."""

    @property
    def found(self) -> str:
        """Return what the file has."""

    @property
    def expected(self) -> str:
        """Return what it should have."""

    @property
    def todo(self) -> str:
        """Return what to do."""


def problem_table(
    problems: Iterable[ReportedProblem],
    *,
    count: int = 0,
    page: Page[Any] | None = None,
    file: str = "",
) -> Table[ReportedProblem]:
    """Return the table of problems, of the kernel or of a job, with its file if that has a name.

    `count` is the number of all problems if only some are stored; `page` is a page of these.
    """
    listed = page.paginator.count if page else count
    return Table[ReportedProblem](
        "problems",
        (
            Column("File", _source, ID, name="source"),
            Column("Line", lambda row: row.line, COUNT, name="line"),
            Column("Found", lambda row: row.found, TEXT, name="found", css="found"),
            Column("Expected", lambda row: row.expected, TEXT, name="expected"),
            Column("What to do", lambda row: row.todo, TEXT, name="todo"),
        ),
        problems,
        caption=f"Only the first {listed:,} of {count:,} problems are listed."
        if count > listed
        else "",
        page=page,
        file=file,
        css="problems",
    )


def _source(problem: ReportedProblem) -> str:
    return str(getattr(problem, "source", None) or getattr(problem, "path", ""))
