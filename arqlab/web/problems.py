"""The report of the problems of a file: where, found, expected, what to do."""

from collections.abc import Iterable
from typing import Any

from arqlab.web.cells import COUNT, ID, TEXT
from arqlab.web.tables import Column, Table


def problem_table(
    problems: Iterable[Any], *, count: int = 0, page: Any = None, file: str = ""
) -> Table:
    """Return the table of problems, of the kernel or of a job, with its file if that has a name.

    `count` is the number of all problems if only some are stored; `page` is a page of these.
    """
    listed = page.paginator.count if page else count
    return Table(
        "problems",
        (
            Column("File", lambda row: getattr(row, "source", None) or row.path, ID, name="source"),
            Column("Line", "line", COUNT, name="line"),
            Column("Found", "found", TEXT, name="found", css="found"),
            Column("Expected", "expected", TEXT, name="expected"),
            Column("What to do", "todo", TEXT, name="todo"),
        ),
        problems,
        caption=f"Only the first {listed:,} of {count:,} problems are listed."
        if count > listed
        else "",
        page=page,
        file=file,
        css="problems",
    )
