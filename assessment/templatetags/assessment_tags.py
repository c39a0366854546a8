"""Chips and cells of the pages about judging, and what the pages of labs and tasks tell of it."""

from __future__ import annotations

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from arqlab.core.templatetags.core_tags import chip
from assessment.assignments.selectors.rows import PersonRow, TopicRow

register = template.Library()
NOTHING = SafeString('<td class="person"></td>')


@register.filter
def topic_chip(state: str) -> SafeString:
    """Return the chip of a topic's state of judging."""
    return chip(state, state.replace("-", " "))


@register.simple_tag
def share_cell(row: TopicRow, person: PersonRow) -> SafeString:
    """Return the cell of a person in the row of a topic: the state for them with the items that they
    judged, or nothing.

    A template for each of the cells, a thousand in a large lab, would take a second.
    """
    share = row.shares.get(person.person.pk)
    if share is None:
        return NOTHING
    count, name = share.judged.items, person.person.name
    if share.assignment is None:
        return format_html(
            '<td class="person muted" data-value="{}" title="{} judged {} and has the topic no longer">{}'
            '<span class="visually-hidden"> judged, not assigned any more</span></td>',
            *(count, name, count, count),
        )
    state = row.state_of(share)
    words = state.replace("-", " ")
    return format_html(
        '<td class="person" data-value="{}"><span class="chip chip-{}" title="{}: {}, {} judged">'
        '<span class="visually-hidden">{}: {}, judged </span>{}</span></td>',
        *(count, state, name, words, count, name, words, count),
    )
