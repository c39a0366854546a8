"""Filters of the pages of runs, and what the pages of labs and tasks tell of runs."""

from __future__ import annotations

import re
from collections.abc import Iterable

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from arqlab.core.models import Lab
from arqlab.core.selectors import OwnLab, Standing
from submissions import selectors

register = template.Library()


@register.filter
def marked(sentence: str) -> SafeString:
    """Write what a report puts between backticks as code; everything else of it is escaped."""
    # Only the <code> tags are ours; the sentence was escaped before.
    return mark_safe(re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(sentence)))  # noqa: S308


@register.simple_tag
def run_counts(own_labs: Iterable[OwnLab]) -> dict[int, selectors.TaskRuns]:
    """Give the counts of runs that a person may know in their labs, by the task's key."""
    return selectors.run_counts((own.row.lab, own.standing) for own in own_labs)


@register.simple_tag
def run_counts_in(lab: Lab, standing: Standing) -> dict[int, selectors.TaskRuns]:
    """Give the counts of runs that a person may know in one lab, by the task's key."""
    return selectors.run_counts([(lab, standing)])
