"""Chips, table cells and marks of the judging pages."""

from __future__ import annotations

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from arqlab.core.templatetags.core_tags import chip
from assessment.assignments.selectors.rows import PersonRow, TopicRow
from assessment.judging.services.marks import QuotedMark, quoted_marks
from assessment.models import Judgment

register = template.Library()
NOTHING = SafeString('<td class="person"></td>')


@register.filter
def state_words(state: str) -> str:
    """Return the name of a topic's judging state, such as `in progress`."""
    return "not started" if state == "not-started" else state.replace("-", " ")


@register.filter
def topic_chip(state: str) -> SafeString:
    """Return the chip of a topic's judging state."""
    return chip(state, state_words(state))


@register.filter("quoted_marks")
def marks_of(judgment: Judgment | None) -> list[QuotedMark]:
    """Return the marks of a judgment as quotes; with formulas in them, this takes a query."""
    return quoted_marks([judgment])[judgment.pk] if judgment else []


@register.simple_tag
def assessor_cell(row: TopicRow, person: PersonRow) -> SafeString:
    """Return the table cell of an assessor in the row of a topic.

    The cell shows the assessor's state and judged items, or is empty. It does not use a template
    because a large lab has a thousand cells, which would take a second to render.
    """
    share = row.shares.get(person.person.pk)
    if share is None:
        return NOTHING
    count, name = share.judged.items, person.person.name
    if share.assignment is None:
        return format_html(
            '<td class="person muted" data-value="{}" '
            'title="{} judged {} and is no longer assigned">{}'
            '<span class="visually-hidden"> judged, no longer assigned</span></td>',
            *(count, name, count, count),
        )
    state = row.state_of(share)
    words = state_words(state)
    return format_html(
        '<td class="person" data-value="{}"><span class="chip chip-{}" title="{}: {}, {} judged">'
        '<span class="visually-hidden">{}: {}, judged </span>{}</span></td>',
        *(count, state, name, words, count, name, words, count),
    )
