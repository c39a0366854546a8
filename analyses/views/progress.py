"""The scores of linked runs in all labs."""

from collections.abc import Callable
from operator import attrgetter
from typing import NamedTuple

from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html
from django.utils.safestring import mark_safe

from analyses.services.progress import ProgressRow, SystemProgress, system_progress
from arqlab.core.models import Task
from arqlab.labs.permissions import task_or_404
from arqlab.web import TASK, Column, Pages, Table, answer, cells, run_columns
from evaluation.views.tables import seen_board

pages = Pages(f"{TASK}leaderboard/", task_or_404, section="leaderboard")


@pages.read("progress/", "progress")
def progress(request: HttpRequest, task: Task) -> HttpResponse:
    """Show the scores of linked runs in all labs, or return them as TSV."""
    _, visible = seen_board(request, task)
    systems = system_progress(request.user, task, visible)
    context = {"visible": visible}
    file = f"progress-{task.lab.slug}-{task.slug}-{visible.qrel_set.name}"
    table = _systems_table(systems, file)
    return answer(
        request, "analyses/progress.html", context, table, file=_long_table(systems, file)
    )


def _systems_table(systems: SystemProgress, file: str) -> Table[ProgressRow]:
    """Return a row for each system, with the cells of each task under its lab."""
    columns: list[Column[ProgressRow]] = [
        Column(measure.heading, _progress_cell(place, number), over=column.task.lab.name, css="num")
        for place, column in enumerate(systems.tasks)
        for number, measure in enumerate(column.measures)
    ]
    runs: tuple[Column[ProgressRow], ...] = run_columns(lambda row: row.run)
    return Table[ProgressRow]("systems", [*runs, *columns], systems.rows, file=file)


def _progress_cell(place: int, number: int) -> Callable[[ProgressRow], str]:
    """Return what shows a value of a row, with a mark if the system was trained on the topics."""

    def cell(row: ProgressRow) -> str:
        run, values = row.cells[place]
        mark = mark_safe('<abbr title="Trained on these topics">†</abbr>')
        is_trained = run is not None and values[number] is not None and run.is_trained
        return format_html("{}{}", cells.score(values[number]), mark if is_trained else "")

    return cell


class _LongRow(NamedTuple):
    team: str
    run: str
    standing: str
    task: str
    run_in_task: str
    trained: bool
    measure: str
    value: float | None


def _long_table(systems: SystemProgress, file: str) -> Table[_LongRow]:
    """Return a row for each run of a system, task and measure, for files."""
    columns: list[Column[_LongRow]] = [
        Column("", attrgetter(name), name=name) for name in _LongRow._fields
    ]
    rows = [
        _LongRow(
            row.run.team,
            row.run.tag,
            row.run.standing.key,
            str(column.task),
            cell.run.tag,
            cell.run.is_trained,
            measure.name,
            value,
        )
        for row in systems.rows
        for column, cell in zip(systems.tasks, row.cells, strict=True)
        if cell.run
        for measure, value in zip(column.measures, cell.values, strict=True)
    ]
    return Table[_LongRow]("progress", columns, rows, file=file)
