"""The page of a test collection in numbers: its topics, qrels, teams and runs."""

from collections.abc import Iterator, Sequence

from django.http import HttpRequest, HttpResponse

from analyses.services.counts import LabCounts, QrelsCount, RunCount, ValueCount, lab_numbers
from arqlab.core.models import Lab
from arqlab.labs.permissions import lab_or_404
from arqlab.web import LAB, Column, Empty, Pages, Table, answer, cells, to

pages = Pages(LAB, lab_or_404, section="overview")


@pages.read("counts/", "lab-counts")
def lab_counts(request: HttpRequest, lab: Lab) -> HttpResponse:
    """Show the topics, judged items, teams and runs of the tasks of a lab, as 003 (Tables 1, 2, 5).

    Before a release, only organizers see the qrels, teams and runs of a task.
    """
    counts = lab_numbers(request.user, lab)
    tables = (
        _judged_table(lab, counts.qrels),
        _attributes_table(lab, counts.topics),
        _submissions_table(lab, counts),
    )
    return answer(request, "analyses/lab_counts.html", {}, *tables)


def _task_column(lab: Lab) -> Column[QrelsCount | ValueCount | RunCount]:
    return Column(
        "Task",
        lambda row: row.task.name,
        is_head=True,
        link=to("task", lab.slug, of=lambda row: row.task.slug),
    )


def _judged_table(lab: Lab, rows: Sequence[QrelsCount]) -> Table[QrelsCount]:
    return Table[QrelsCount](
        "judged",
        [
            _task_column(lab),
            Column("Qrels", lambda row: row.qrels.name),
            Column("Items", lambda row: row.qrels.get_items_display()),
            Column("Topics", lambda row: row.part),
            Column("Number", lambda row: row.topics, cells.COUNT, name="number"),
            Column(
                "Min", lambda row: row.judged.least, cells.COUNT, over="Judged", name="judged least"
            ),
            Column(
                "Max", lambda row: row.judged.most, cells.COUNT, over="Judged", name="judged most"
            ),
            Column(
                "Mean", lambda row: row.judged.mean, cells.TENTHS, over="Judged", name="judged mean"
            ),
            Column(
                "Min",
                lambda row: row.positive.least,
                cells.COUNT,
                over="Relevant",
                name="relevant least",
            ),
            Column(
                "Max",
                lambda row: row.positive.most,
                cells.COUNT,
                over="Relevant",
                name="relevant most",
            ),
            Column(
                "Mean",
                lambda row: row.positive.mean,
                cells.TENTHS,
                over="Relevant",
                name="relevant mean",
            ),
        ],
        rows,
        caption="Judged items per topic, and those with a label above the lowest.",
        empty=Empty("No qrels yet", "The numbers of judged items appear with released qrels."),
        file=f"{lab.slug}-judged",
    )


def _attributes_table(lab: Lab, rows: Sequence[ValueCount]) -> Table[ValueCount]:
    return Table[ValueCount](
        "attributes",
        [
            _task_column(lab),
            Column("Information", lambda row: row.field),
            Column("Value", lambda row: row.value.capitalize()),
            Column("Topics", lambda row: row.topics, cells.COUNT),
            *_split_columns(rows),
        ],
        rows,
        caption="Topics by their information.",
        empty=Empty("No topic information yet", "Organizers enter it with the topics of a task."),
        file=f"{lab.slug}-topics",
    )


def _submissions_table(lab: Lab, counts: LabCounts) -> Table[RunCount]:
    return Table[RunCount](
        "submissions",
        [
            _task_column(lab),
            Column("Collection", lambda row: counts.collection or None),
            Column("Topics", lambda row: row.topics, cells.COUNT),
            Column("Teams", lambda row: row.teams, cells.COUNT),
            Column("Runs", lambda row: row.runs, cells.COUNT),
            Column("Baselines", lambda row: row.baselines, cells.COUNT),
        ],
        counts.runs,
        caption="Teams with a valid run, and the valid runs, without those out of competition.",
        empty=Empty("No runs to count yet", "The numbers of teams and runs appear with a release."),
        file=f"{lab.slug}-runs",
    )


def _split_columns(topics: Sequence[ValueCount]) -> Iterator[Column[ValueCount]]:
    """Yield the columns of the splits that any topics have."""
    if any(row.test for row in topics):
        yield Column("Test", lambda row: row.test, cells.COUNT)
    if any(row.train for row in topics):
        yield Column("Train", lambda row: row.train, cells.COUNT)
