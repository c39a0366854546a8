"""Chips and cells of the pages about judging, and what the pages of labs and tasks tell of it."""

from __future__ import annotations

from collections.abc import Iterable

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from arqlab.core.models import Lab, Task, User
from arqlab.core.permissions import Visitor
from arqlab.core.selectors import OwnLab, Standing
from arqlab.core.templatetags.core_tags import chip
from assessment import selectors
from assessment.selectors import OwnWork, PersonRow, TaskJudging, TopicRow

register = template.Library()
NOTHING = SafeString('<td class="person"></td>')


@register.filter
def topic_chip(state: str) -> SafeString:
    """Give the chip of a topic's state of judging."""
    return chip(state, state.replace("-", " "))


@register.simple_tag
def share_cell(row: TopicRow, person: PersonRow) -> SafeString:
    """Give the cell of a person in the row of a topic: the state for them with the items that they judged, or nothing.

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


@register.filter
def next_in(work: OwnWork | str, task: Task) -> TopicRow | None:
    """Give the topic of a task to go on with, of what a person has to judge in its lab."""
    return work.next_of(row for row in work.rows if row.topic.task_id == task.pk) if isinstance(work, OwnWork) else None


@register.simple_tag
def own_work(own_labs: Iterable[OwnLab], user: Visitor) -> dict[int, OwnWork]:
    """Give what a person has to judge in their labs, by the lab's key."""
    return _own_work(((own.row.lab, own.standing) for own in own_labs), user)


@register.simple_tag
def own_work_in(lab: Lab, standing: Standing, user: Visitor) -> dict[int, OwnWork]:
    """Give what a person has to judge in one lab, by the lab's key."""
    return _own_work([(lab, standing)], user)


def _own_work(labs: Iterable[tuple[Lab, Standing]], user: Visitor) -> dict[int, OwnWork]:
    judged = [lab for lab, standing in labs if standing.assesses or standing.organizes]
    return selectors.own_work(user, judged, at=timezone.now()) if judged and isinstance(user, User) else {}


@register.simple_tag
def task_judging(own_labs: Iterable[OwnLab]) -> dict[int, TaskJudging]:
    """Give how far the judging is in the labs that a person organizes, by the task's key."""
    labs = [own.row.lab for own in own_labs if own.standing.organizes]
    return selectors.task_judging(labs) if labs else {}


@register.simple_tag
def task_judging_in(lab: Lab, standing: Standing) -> dict[int, TaskJudging]:
    """Give how far the judging is in one lab, by the task's key; nothing to those who do not organize it."""
    return selectors.task_judging([lab]) if standing.organizes else {}


@register.simple_tag
def open_tickets(own_labs: Iterable[OwnLab]) -> dict[int, int]:
    """Give the number of open tickets in the labs that a person organizes, by the lab's key."""
    labs = [own.row.lab for own in own_labs if own.standing.organizes]
    return selectors.open_tickets(labs) if labs else {}


@register.simple_tag
def open_tickets_in(lab: Lab, standing: Standing) -> dict[int, int]:
    """Give the number of open tickets of one lab, by the lab's key; nothing to those who do not organize it."""
    return selectors.open_tickets([lab]) if standing.organizes else {}
