"""The tables of the assignments page: assessors, days, trips, forecasts, and topics."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

from django.utils.dateformat import format as date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString

from arqlab.core.models import Task
from arqlab.labs.forms.topics import words_column
from arqlab.web import Chart, Column, Row, Table, cells, choice_column, to
from assessment.assignments.selectors.days import JudgedDay, JudgedDays
from assessment.assignments.selectors.grid import AssignmentGrid, PersonRow, TopicRow
from assessment.assignments.selectors.leases import OfflineTrip
from assessment.assignments.selectors.progress import AssignmentProgress
from assessment.assignments.selectors.roster import RosterRow
from assessment.assignments.selectors.viability import TopicForecast

STATES = ("not-started", "in-progress", "done", "in-review", "set-aside")
PACE = Column[PersonRow | TopicRow]("s per label", lambda row: row.pace.each, cells.NUMBER)
HOURS_LEFT = Column[PersonRow | TopicRow](
    "Hours left", lambda row: row.hours if row.left else None, cells.NUMBER
)


def state_words(state: str) -> str:
    """Return the name of a topic's judging state, such as `in progress`."""
    return "not started" if state == "not-started" else state.replace("-", " ")


def topic_chip(state: str) -> SafeString:
    """Return the chip of a topic's judging state."""
    return cells.chip(state, state_words(state))


def person_column(person: Callable[[Row], PersonRow | RosterRow]) -> Column[Row]:
    """Return the column of assessors, with those who may not judge."""
    return Column(
        "Assessor",
        lambda row: person(row).person.name,
        note=lambda row: "" if person(row).may_judge else "no longer an assessor",
        is_head=True,
    )


def topic_column(task: Task, query_id: Callable[[Row], str]) -> Column[Row]:
    """Return the column of topics, with links to their pages."""
    url = to("labs:topic-detail", task.lab.slug, task.slug, of=query_id)
    return Column("Topic", query_id, cells.ID, link=url, is_head=True, css="nowrap")


def progress_tables(
    task: Task, progress: AssignmentProgress, selected: Collection[str]
) -> list[Table[Any]]:
    """Return the tables of the assignments page; the topics in `selected` are ticked."""
    return [
        _people_table(progress.grid),
        *([_days_table(progress.days)] if progress.days else []),
        _trips_table(progress.trips),
        _forecasts_table(task, progress.forecasts),
        _topics_table(task, progress.grid, selected),
    ]


def _people_table(grid: AssignmentGrid) -> Table[PersonRow]:
    """Return the assessors with their topics, pace and estimated completion."""

    def finish(row: PersonRow) -> str:
        return format_html(
            "{} {}", cells.day(row.finish), cells.chip("flawed", "late") if row.is_late else ""
        )

    def topics(state: str) -> Column[PersonRow]:
        return Column(
            state_words(state).capitalize(), lambda row: row.states.get(state), cells.COUNT
        )

    return Table[PersonRow](
        "people",
        [
            person_column(lambda row: row),
            *map(topics, STATES),
            Column("Judged", lambda row: row.judged, cells.COUNT),
            Column("Items left", lambda row: row.left, cells.COUNT),
            PACE,
            HOURS_LEFT,
            Column("Last judged", lambda row: row.last, cells.DAY),
            Column("Est. completion", finish, css="nowrap"),
        ],
        grid.judges,
    )


def _days_table(progress: JudgedDays) -> Table[JudgedDay]:
    """Return the items judged per day, and those expected, with their chart."""
    expected = ", and items expected until the estimated completion" * progress.has_forecast
    dates = (
        f" {name.capitalize()}: {date_format(date, 'j M Y')}."
        for name, date in progress.deadlines.items()
    )
    notes = (
        "Items by the day of their judgment, without imported judgments.",
        "The forecast leaves out unassigned topics, and assessors who judged nothing in the last "
        "seven days." * progress.is_partial,
        "It continues after the last day shown." * progress.is_cut,
    )
    forecast = Column[JudgedDay]("Expected", lambda row: row.expected, cells.NUMBER)
    return Table[JudgedDay](
        "judged-days",
        [
            Column("Day", lambda row: row.day, cells.DAY, is_head=True),
            Column("Judged", lambda row: row.judged, cells.COUNT),
            *([forecast] if progress.has_forecast else []),
        ],
        [row for row in progress.days if row.judged or row.expected],
        caption=f"Days without judged or expected items are left out.{''.join(dates)}",
        chart=Chart(
            "judged-days",
            progress.data,
            f"Items judged per day{expected}. The table below lists the days.",
            css="chart-middle",
            caption=" ".join(filter(None, notes)),
        ),
        fold="Judged per day as a table",
    )


def _trips_table(trips: Sequence[OfflineTrip]) -> Table[OfflineTrip]:
    """Return the items that assessors have prepared for judging offline."""
    return Table[OfflineTrip](
        "trips",
        [
            Column("Assessor", lambda row: row.person.name, is_head=True, css="nowrap"),
            Column("Topic", lambda row: row.topic, cells.ID),
            Column("Items left", lambda row: row.items, cells.COUNT),
            Column("Until", lambda row: row.until, cells.TIME),
            Column("End", template="assessment/_trip_end.html", hides_heading=True),
        ],
        trips,
    )


def _forecasts_table(task: Task, forecasts: Sequence[TopicForecast]) -> Table[TopicForecast]:
    """Return the topics that may be dropped or are set aside."""
    return Table[TopicForecast](
        "forecasts",
        [
            topic_column(task, lambda row: row.row.topic.query_id),
            choice_column(
                *("forecasts", "topics"),
                lambda row: row.row.topic.query_id,
                spoken=lambda forecast: f"Forecast of {forecast.row.topic.query_id}",
            ),
            words_column(lambda row: row.row.topic),
            Column("State", lambda forecast: topic_chip(forecast.row.state), css="nowrap"),
            Column("Items", lambda row: row.sample.total, cells.COUNT),
            Column("Judged", lambda row: row.sample.judged, cells.COUNT),
            Column("Relevant", lambda row: row.sample.relevant, cells.COUNT),
            Column(
                "Kept",
                lambda row: row.probability,
                cells.CellKind(lambda value: f"{value:.1%}", "num"),
            ),
            Column("Items to save", lambda row: row.unjudged, cells.COUNT),
            Column("Hours to save", lambda row: row.hours, cells.TENTHS),
        ],
        forecasts,
    )


def _topics_table(task: Task, grid: AssignmentGrid, selected: Collection[str]) -> Table[TopicRow]:
    """Return the topics with a column for each assessor; those in `selected` are ticked."""
    difficulty = Column[TopicRow]("Difficulty", lambda row: row.difficulty)
    return Table[TopicRow](
        "assignments",
        [
            topic_column(task, lambda row: row.topic.query_id),
            choice_column(
                *("assignments", "topics"),
                lambda row: row.topic.query_id,
                spoken=lambda row: row.topic.query_id,
                is_chosen=lambda row: row.topic.query_id in selected,
            ),
            words_column(lambda row: row.topic),
            *([difficulty] if grid.has_difficulty else []),
            Column("State", lambda row: topic_chip(row.state), css="nowrap"),
            Column("Items", lambda row: row.total, cells.COUNT),
            Column("Judged", lambda row: row.done, cells.COUNT),
            PACE,
            HOURS_LEFT,
            Column("Est. completion", lambda row: row.finish, cells.DAY),
            *(_person_column(row) for row in grid.judges),
        ],
        grid.rows,
        has_tools=True,
        css="assignment-table",
    )


def _person_column(person: PersonRow) -> Column[TopicRow]:
    name, key = person.person.name, person.person.pk

    def cell(row: TopicRow) -> str:
        share = row.shares.get(key)
        if share is None:
            return " "
        count = share.judged.items
        if share.assignment is None:
            return format_html(
                '<span class="muted" title="{0} judged {1} and is no longer assigned">{1}'
                '<span class="visually-hidden"> judged, no longer assigned</span></span>',
                *(name, count),
            )
        state = row.state_of(share)
        return format_html(
            '<span class="chip chip-{0}" title="{1}: {2}, {3} judged">'
            '<span class="visually-hidden">{1}: {2}, judged </span>{3}</span>',
            *(state, name, state_words(state), count),
        )

    return Column(format_html("<span>{}</span>", name), cell, css="person")
