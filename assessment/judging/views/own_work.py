"""The tables of an assessor's own work: days, tasks, topics, and answered tickets."""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, NamedTuple

from django.contrib.humanize.templatetags.humanize import intcomma
from django.urls import reverse
from django.utils.html import format_html

from arqlab.core.models import Lab
from arqlab.labs.forms.topics import words_column
from arqlab.web import Chart, Column, Row, Table, cells
from assessment.assignments.views.progress import topic_chip
from assessment.hours.selectors import WorkSum
from assessment.judging.selectors.own_work import OwnDay, OwnHours, OwnTask, OwnTopic, RoundTopic
from assessment.models import Ticket


class OwnPlace(NamedTuple):
    """A topic of an assessor, and the task or the round in which they judge it."""

    task: OwnTask
    topic: OwnTopic


def own_tables(lab: Lab, hours: OwnHours, tickets: Iterable[Ticket]) -> list[Table[Any]]:
    """Return the own work by day, task and topic, and the answers to the own tickets."""
    items, active, pace = _work_columns(_of_day, judged="Items")
    days = Table[OwnDay](
        "own-days",
        [
            Column("Day", lambda row: row.day, cells.DAY, is_head=True),
            *(active, items),
            Column("Labels", lambda row: row.work.labels, cells.COUNT),
            pace,
        ],
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
    tasks = Table[OwnTask](
        "tasks",
        [
            Column("Task", lambda row: row.task.name, note=lambda row: row.round, is_head=True),
            Column(
                "Topics assigned", lambda row: None if row.round else len(row.rows), cells.COUNT
            ),
            *_work_columns(_of_task, judged="Items judged"),
            Column("Items left", lambda row: None if row.round else row.left, cells.COUNT),
            Column("Time left", lambda row: row.seconds_left if row.left else None, cells.DURATION),
        ],
        hours.tasks,
    )
    topic_keys = {row.topic.pk for row in hours.rows}
    return [days, tasks, _topics_table(lab, hours), own_tickets_table(lab, topic_keys, tickets)]


def _of_day(row: OwnDay) -> WorkSum:
    return row.work


def _of_task(row: OwnTask) -> WorkSum:
    return row.work


def _of_place(row: OwnPlace) -> WorkSum:
    return row.topic.work


def _work_columns(
    work: Callable[[Row], WorkSum], *, judged: str
) -> tuple[Column[Row], Column[Row], Column[Row]]:
    return (
        Column(judged, lambda row: work(row).items, cells.COUNT),
        Column("Active hours", lambda row: work(row).active_hours, cells.HOURS),
        Column("s per label", lambda row: work(row).pace.each, cells.NUMBER),
    )


def _topics_table(lab: Lab, hours: OwnHours) -> Table[OwnPlace]:
    def url(place: OwnPlace) -> str:
        address = [lab.slug, place.task.task.slug, place.topic.topic.query_id]
        return reverse("assessment:judge", args=address) if place.topic.row else ""

    return Table[OwnPlace](
        "topics",
        [
            Column("Topic", lambda row: row.topic.topic.query_id, cells.ID, link=url, is_head=True),
            Column(
                "Task",
                lambda row: row.task.task.name,
                note=lambda row: row.task.round,
                css="nowrap",
            ),
            Column("State", _state, css="nowrap"),
            Column("Progress", _progress, css="nowrap"),
            Column("Items left", lambda row: row.topic.row and row.topic.row.left, cells.COUNT),
            *_work_columns(_of_place, judged="Judged by you"),
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


def own_tickets_table(
    lab: Lab, topic_keys: Collection[int], tickets: Iterable[Ticket]
) -> Table[Ticket]:
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

    return Table[Ticket](
        "tickets",
        [
            Column("Item", name, link=url, note=note, is_head=True, css="nowrap"),
            Column("Your label", lambda row: row.judgment.scale_label, cells.LABEL),
            Column("Your comment", lambda row: row.judgment.comment, cells.EXCERPT),
            Column("Answer", lambda row: row.answer, cells.PROSE),
            Column("Answered", lambda row: row.answered_at, cells.TIME),
        ],
        tickets,
    )


def round_topics_table(topics: Sequence[RoundTopic], *, with_rounds: bool) -> Table[RoundTopic]:
    """Return a user's own topics in rounds, perhaps with their rounds."""

    def page(row: RoundTopic) -> str:
        return str(row.round.address) if row.round.rules.shows_page_to_judges else ""

    round_ = Column[RoundTopic]("Round", lambda row: row.round, link=page, css="nowrap")
    return Table[RoundTopic](
        "round-topics",
        [
            Column(
                "Topic",
                lambda row: row.topic.query_id,
                cells.ID,
                link=lambda row: row.address,
                is_head=True,
            ),
            *([round_] if with_rounds else []),
            words_column(lambda row: row.topic),
            Column("State", lambda row: topic_chip(row.state), css="nowrap"),
            Column("Judged by you", lambda row: row.done, cells.COUNT),
            Column("Items", lambda row: row.items, cells.COUNT),
        ],
        topics,
    )
