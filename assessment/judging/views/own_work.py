"""The tables of an assessor's own work: days, tasks, topics, and answered tickets."""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from django.contrib.humanize.templatetags.humanize import intcomma
from django.urls import reverse
from django.utils.html import format_html

from arqlab.core.models import Lab
from arqlab.labs.forms.topics import words_column
from arqlab.web.cells import COUNT, DAY, DURATION, EXCERPT, HOURS, ID, LABEL, NUMBER, PROSE, TIME
from arqlab.web.tables import Chart, Column, Table
from assessment.assignments.views.progress import topic_chip
from assessment.judging.selectors.own_work import OwnHours, OwnTask, OwnTopic, RoundTopic
from assessment.models import Ticket


class OwnPlace(NamedTuple):
    """A topic of an assessor, and the task or the round in which they judge it."""

    task: OwnTask
    topic: OwnTopic


def own_tables(lab: Lab, hours: OwnHours, tickets: Iterable[Ticket]) -> list[Table]:
    """Return the own work by day, task and topic, and the answers to the own tickets."""
    items, active, pace = _work_columns("1", judged="Items")
    labels = Column("Labels", "1.labels", COUNT)
    days = Table(
        "own-days",
        [Column("Day", "0", DAY, is_head=True), active, items, labels, pace],
        hours.days,
        chart=Chart(
            "own-days",
            hours.data,
            "Your items and seconds per label on each day with labels. The table below lists the "
            "days.",
            css="chart-middle",
            caption="Days without labels are left out.",
        ),
        fold="Days as a table",
    )
    tasks = Table(
        "tasks",
        [
            Column("Task", "task.name", note="round", is_head=True),
            Column("Topics assigned", lambda row: None if row.round else len(row.rows), COUNT),
            *_work_columns("work", judged="Items judged"),
            Column("Items left", lambda row: None if row.round else row.left, COUNT),
            Column("Time left", lambda row: row.seconds_left if row.left else None, DURATION),
        ],
        hours.tasks,
    )
    topic_keys = {row.topic.pk for row in hours.rows}
    return [days, tasks, _topics_table(lab, hours), own_tickets_table(lab, topic_keys, tickets)]


def _work_columns(path: str, *, judged: str) -> tuple[Column, Column, Column]:
    return (
        Column(judged, f"{path}.items", COUNT),
        Column("Active hours", f"{path}.active_hours", HOURS),
        Column("s per label", f"{path}.pace.each", NUMBER),
    )


def _topics_table(lab: Lab, hours: OwnHours) -> Table:
    def url(place: OwnPlace) -> str:
        address = [lab.slug, place.task.task.slug, place.topic.topic.query_id]
        return reverse("assessment:judge", args=address) if place.topic.row else ""

    return Table(
        "topics",
        [
            Column("Topic", "topic.topic.query_id", ID, link=url, is_head=True),
            Column("Task", "task.task.name", note="task.round", css="nowrap"),
            Column("State", _state, css="nowrap"),
            Column("Progress", _progress, css="nowrap"),
            Column("Items left", "topic.row.left", COUNT),
            *_work_columns("topic.work", judged="Judged by you"),
        ],
        [OwnPlace(task, topic) for task in hours.tasks for topic in task.topics],
        has_tools=True,
    )


def _state(place: OwnPlace) -> str:
    if place.topic.row:
        return topic_chip(place.topic.row.state)
    return "" if place.task.round else "no longer yours"


def _progress(place: OwnPlace) -> str:
    row = place.topic.row
    if row is None:
        return ""
    return format_html(
        '<progress value="{}" max="{}" aria-label="{}, items judged by all assessors"></progress> '
        "{} of {}",
        *(row.done, row.total or 1, row.topic.query_id),
        *(intcomma(row.done), intcomma(row.total)),
    )


def own_tickets_table(lab: Lab, topic_keys: Collection[int], tickets: Iterable[Ticket]) -> Table:
    """Return the answers to an assessor's tickets, linked in the topics that are still theirs."""

    def url(ticket: Ticket) -> str:
        item = ticket.judgment.instance.item
        if item.topic_id not in topic_keys or item.assessor_id:
            return ""
        address = [lab.slug, item.topic.task.slug, item.topic.query_id]
        return f"{reverse('assessment:judge', args=address)}?item={item.pk}"

    def name(ticket: Ticket) -> str:
        item = ticket.judgment.instance.item
        return f"{item.topic.query_id}, item {item.position}"

    def note(ticket: Ticket) -> str:
        return "" if ticket.judgment.instance.item.done_at else "to judge again"

    return Table(
        "tickets",
        [
            Column("Item", name, link=url, note=note, is_head=True, css="nowrap"),
            Column("Your label", "judgment.scale_label", LABEL),
            Column("Your comment", "judgment.comment", EXCERPT),
            Column("Answer", "answer", PROSE),
            Column("Answered", "answered_at", TIME),
        ],
        tickets,
    )


def round_topics_table(topics: Sequence[RoundTopic], *, with_rounds: bool) -> Table:
    """Return a user's own topics in rounds, perhaps with their rounds."""

    def page(row: RoundTopic) -> str:
        return str(row.round.address) if row.round.rules.shows_page_to_judges else ""

    rounds = [Column("Round", "round", link=page, css="nowrap")] if with_rounds else []
    return Table(
        "round-topics",
        [
            Column("Topic", "topic.query_id", ID, link="address", is_head=True),
            *rounds,
            words_column("topic"),
            Column("State", lambda row: topic_chip(row.state), css="nowrap"),
            Column("Judged by you", "done", COUNT),
            Column("Items", "items", COUNT),
        ],
        topics,
    )
