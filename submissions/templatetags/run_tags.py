"""Template filters of the run pages."""

import re
from collections.abc import Iterable
from typing import TypedDict

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from arqlab.web import Column, Table, cells
from submissions.models import RunProblem
from submissions.services.left_out import LeftOutRun

register = template.Library()


@register.filter("marked")
def backticks_as_code(sentence: str) -> SafeString:
    """Format text between backticks as code, and escape everything else."""
    # Only the <code> tags are ours; the sentence was escaped before.
    return mark_safe(re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(sentence)))  # noqa: S308


class ProblemPlace(TypedDict):
    """An occurrence of a problem, as `RunProblem.first` stores it."""

    line: int
    topic: str
    found: str
    expected: str


@register.simple_tag
def places_table(problem: RunProblem) -> Table[ProblemPlace]:
    """Return the first occurrences of a problem."""
    columns: list[Column[ProblemPlace]] = [
        Column("Line", lambda row: row["line"], cells.COUNT),
        Column("Topic", lambda row: row["topic"], css="nowrap"),
        Column("Found", lambda row: row["found"], cells.ID),
        Column("Expected", lambda row: row["expected"]),
    ]
    return Table[ProblemPlace](f"{problem.kind}-places", columns, problem.first, css="places")


@register.simple_tag
def left_out_table(runs: Iterable[LeftOutRun]) -> Table[LeftOutRun]:
    """Return the runs that a pool, qrels or a leaderboard leaves out, with the reasons."""
    columns: list[Column[LeftOutRun]] = [
        Column("Run", lambda row: row["tag"], is_head=True),
        Column("Team", lambda row: row["team"]),
        Column("Reason", lambda row: row["reason"], css="wrap"),
    ]
    return Table[LeftOutRun]("left-out-runs", columns, runs)
