"""Chips and cells of the pages about judging, and what the pages of labs and tasks tell of it."""

from __future__ import annotations

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from arqlab.core.templatetags.core_tags import chip
from assessment.selectors import PersonRow, TopicRow

register = template.Library()


@register.filter
def hours(number: float) -> str:
    """Write hours for a sentence: the tenths of a few, whole ones of many."""
    text = f"{number:,.1f}" if number < 10 else f"{number:,.0f}"
    return f"{text} hour{'s' * (text != '1.0')}"


@register.simple_tag
def topic_chip(state: str, count: int | None = None) -> SafeString:
    """Give the chip of a topic's state of judging, or of so many topics in it."""
    words = state.replace("-", " ")
    return chip(state, words if count is None else f"{count} {words}")


@register.simple_tag
def share_cell(row: TopicRow, person: PersonRow) -> SafeString:
    """Give the cell of a person in the row of a topic: the state with the items that they judged, or nothing.

    A template for each of the cells, a thousand in a large lab, would take a second.
    """
    share = row.shares.get(person.person.pk)
    if share is None:
        return format_html('<td class="person"></td>')
    count, name, words = share.judged.items, person.person.name, row.state.replace("-", " ")
    if share.assignment is None:
        return format_html(
            '<td class="person muted" data-value="{}" title="{} judged {} and has the topic no longer">{}'
            '<span class="visually-hidden"> judged, not assigned any more</span></td>',
            *(count, name, count, count),
        )
    return format_html(
        '<td class="person" data-value="{}"><span class="chip chip-{}" title="{}: {}, {} judged">'
        '<span class="visually-hidden">{}: {}, judged </span>{}</span></td>',
        *(count, row.state, name, words, count, name, words, count),
    )
