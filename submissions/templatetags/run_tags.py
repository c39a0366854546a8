"""Template filters of the run pages."""

import re
from collections.abc import Iterable, Mapping

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from arqlab.web.cells import COUNT, ID
from arqlab.web.tables import Column, Table
from submissions.models import RunProblem

register = template.Library()


@register.filter("marked")
def backticks_as_code(sentence: str) -> SafeString:
    """Format text between backticks as code, and escape everything else."""
    # Only the <code> tags are ours; the sentence was escaped before.
    return mark_safe(re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(sentence)))  # noqa: S308


@register.simple_tag
def places_table(problem: RunProblem) -> Table:
    """Return the first occurrences of a problem."""
    columns = [
        Column("Line", "line", COUNT),
        Column("Topic", "topic", css="nowrap"),
        Column("Found", "found", ID),
        Column("Expected", "expected"),
    ]
    return Table(f"{problem.kind}-places", columns, problem.first, css="places")


@register.simple_tag
def left_out_table(runs: Iterable[Mapping[str, object]]) -> Table:
    """Return the runs that a pool, qrels or a leaderboard leaves out, with the reasons."""
    columns = [
        Column("Run", "tag", is_head=True),
        Column("Team", "team"),
        Column("Reason", "reason", css="wrap"),
    ]
    return Table("left-out-runs", columns, runs)
