"""The dates of a lab and of its tasks in a lab.toml."""

from datetime import datetime
from typing import NamedTuple

from arqkit.formats.labs.tables import LabTable, closing_time, opening_time


class LabDates(NamedTuple):
    """The opening, the deadline and the judging deadline of a lab or task, each with a zone."""

    opens: datetime | None = None
    deadline: datetime | None = None
    judging_deadline: datetime | None = None


def read_dates(table: LabTable, default: LabDates) -> LabDates:
    """Return the dates of a lab or task, each after the one before."""
    dates = LabDates(
        table.take("opens", opening_time, default.opens),
        table.take("deadline", closing_time, default.deadline),
        table.take("judging_deadline", closing_time, default.judging_deadline),
    )
    opens, deadline, judging = dates
    closing = (deadline, "deadline") if deadline else (opens, "opening")
    _check_order(table, (opens, "opening"), (deadline, "deadline"))
    _check_order(table, closing, (judging, "judging deadline"))
    return dates


def _check_order(
    table: LabTable, first: tuple[datetime | None, str], last: tuple[datetime | None, str]
) -> None:
    (earlier, event), (later, name) = first, last
    if earlier is not None and later is not None and later <= earlier:
        key = name.replace(" ", "_")
        found = f"a {name} ({later}) that is not after the {event} ({earlier})"
        expected, todo = f"a {name} after the {event}", "Correct one of the two."
        other = "opens" if event == "opening" else event
        table.mistake(key if key in table else other, found, expected, todo)
