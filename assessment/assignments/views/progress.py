"""The tables of the assignments page: assessors, days, trips, forecasts, and topics."""

from collections.abc import Collection, Sequence

from django.utils.dateformat import format as date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString

from arqlab.core.models import Task
from arqlab.labs.forms.topics import words_column
from arqlab.web.cells import COUNT, DAY, ID, NUMBER, TENTHS, TIME, CellKind, chip, day
from arqlab.web.tables import Chart, Column, Table, Value, choice_column, reader, to
from assessment.assignments.selectors.days import JudgedDays
from assessment.assignments.selectors.grid import AssignmentGrid, PersonRow, TopicRow
from assessment.assignments.selectors.viability import TopicForecast

STATES = ("not-started", "in-progress", "done", "in-review", "set-aside")
PACE = Column("s per label", "pace.each", NUMBER)
HOURS_LEFT = Column("Hours left", lambda row: row.hours if row.left else None, NUMBER)


def state_words(state: str) -> str:
    """Return the name of a topic's judging state, such as `in progress`."""
    return "not started" if state == "not-started" else state.replace("-", " ")


def topic_chip(state: str) -> SafeString:
    """Return the chip of a topic's judging state."""
    return chip(state, state_words(state))


def person_column(path: str = "") -> Column:
    """Return the column of assessors, whose rows are at a path, with those who may not judge."""
    prefix = f"{path}." if path else ""
    may_judge = reader(f"{prefix}may_judge")
    return Column(
        "Assessor",
        f"{prefix}person.name",
        note=lambda row: "" if may_judge(row) else "no longer an assessor",
        is_head=True,
    )


def topic_column(task: Task, query_id: str) -> Column:
    """Return the column of topics, whose ids are at a path, with links to their pages."""
    url = to("labs:topic-detail", task.lab.slug, task.slug, of=query_id)
    return Column("Topic", query_id, ID, link=url, is_head=True, css="nowrap")


def people_table(grid: AssignmentGrid) -> Table:
    """Return the assessors with their topics, pace and estimated completion."""

    def finish(row: PersonRow) -> str:
        return format_html("{} {}", day(row.finish), chip("flawed", "late") if row.is_late else "")

    def topics(state: str) -> Value:
        return lambda row: row.states.get(state)

    return Table(
        "people",
        [
            person_column(),
            *(Column(state_words(state).capitalize(), topics(state), COUNT) for state in STATES),
            Column("Judged", "judged", COUNT),
            Column("Items left", "left", COUNT),
            PACE,
            HOURS_LEFT,
            Column("Last judged", "last", DAY),
            Column("Est. completion", finish, css="nowrap"),
        ],
        grid.judges,
    )


def days_table(progress: JudgedDays) -> Table:
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
    return Table(
        "judged-days",
        [
            Column("Day", "day", DAY, is_head=True),
            Column("Judged", "judged", COUNT),
            *([Column("Expected", "expected", NUMBER)] if progress.has_forecast else []),
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


def trips_table(trips: Sequence[dict[str, object]]) -> Table:
    """Return the items that assessors have prepared for judging offline."""
    return Table(
        "trips",
        [
            Column("Assessor", "person.name", is_head=True, css="nowrap"),
            Column("Topic", "topic__query_id", ID),
            Column("Items left", "items", COUNT),
            Column("Until", "until", TIME),
            Column("End", template="assessment/_trip_end.html", hides_heading=True),
        ],
        trips,
    )


def forecasts_table(task: Task, forecasts: Sequence[TopicForecast]) -> Table:
    """Return the topics that may be dropped or are set aside."""
    return Table(
        "forecasts",
        [
            topic_column(task, "row.topic.query_id"),
            choice_column(
                *("forecasts", "topics", "row.topic.query_id"),
                spoken=lambda forecast: f"Forecast of {forecast.row.topic.query_id}",
            ),
            words_column("row.topic"),
            Column("State", lambda forecast: topic_chip(forecast.row.state), css="nowrap"),
            Column("Items", "sample.total", COUNT),
            Column("Judged", "sample.judged", COUNT),
            Column("Relevant", "sample.relevant", COUNT),
            Column("Kept", "probability", CellKind(lambda value: f"{value:.1%}", "num")),
            Column("Items to save", "unjudged", COUNT),
            Column("Hours to save", "hours", TENTHS),
        ],
        forecasts,
    )


def topics_table(task: Task, grid: AssignmentGrid, selected: Collection[str]) -> Table:
    """Return the topics with a column for each assessor; those in `selected` are ticked."""
    return Table(
        "assignments",
        [
            topic_column(task, "topic.query_id"),
            choice_column(
                *("assignments", "topics", "topic.query_id"),
                spoken="topic.query_id",
                is_chosen=lambda row: row.topic.query_id in selected,
            ),
            words_column("topic"),
            *([Column("Difficulty", "difficulty")] if grid.has_difficulty else []),
            Column("State", lambda row: topic_chip(row.state), css="nowrap"),
            Column("Items", "total", COUNT),
            Column("Judged", "done", COUNT),
            PACE,
            HOURS_LEFT,
            Column("Est. completion", "finish", DAY),
            *(_person_column(row) for row in grid.judges),
        ],
        grid.rows,
        has_tools=True,
        css="assignment-table",
    )


def _person_column(person: PersonRow) -> Column:
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
