"""The leaderboard by the labels so far."""

from collections.abc import Sequence
from typing import NamedTuple

from django.http import HttpRequest, HttpResponse

from analyses.services.provisional import TOP, ProvisionalBoard, ProvisionalRun, provisional_scores
from arqkit.judgments.qrels import JudgedTopic
from arqlab.core.models import Task
from arqlab.labs.permissions import organized_task_or_404
from arqlab.web import TASK, Column, Pages, Table, answer, cells

pages = Pages(f"{TASK}leaderboard/", organized_task_or_404, section="leaderboard")


@pages.read("provisional/", "provisional-board", shows="provisional-board")
def provisional_board(request: HttpRequest, task: Task) -> HttpResponse:
    """Show the runs by the current labels; with `compute=yes`, compute missing scores first."""
    board = provisional_scores(task, computes=request.GET.get("compute") == "yes")
    context = {"provisional": board, "top": TOP}
    tables = _provisional_table(task, board), _judged_table(board.topics)
    return answer(request, "analyses/provisional_board.html", context, *tables)


class _NumberedRun(NamedTuple):
    number: int
    run: ProvisionalRun


def _provisional_table(task: Task, board: ProvisionalBoard) -> Table[_NumberedRun]:
    measure = board.measure.heading if board.measure else "Mean"
    return Table[_NumberedRun](
        "board",
        [
            Column("No.", lambda row: row.number, cells.COUNT),
            Column("Run", lambda row: row.run.run, is_head=True),
            Column(measure, lambda row: row.run.mean, cells.SCORE),
            Column(f"In the top {TOP}", lambda row: row.run.probability, cells.HUNDREDTHS),
        ],
        [_NumberedRun(number, run) for number, run in enumerate(board.rows, start=1)],
        caption=f"{measure} over the topics in the current draft of the qrels.",
        file=f"{task.lab.slug}-{task.slug}-provisional",
    )


def _judged_table(topics: Sequence[JudgedTopic]) -> Table[JudgedTopic]:
    return Table[JudgedTopic](
        "judged",
        [
            Column("Topic", lambda row: row.topic, is_head=True),
            Column("Judged", lambda row: row.labelled, cells.COUNT),
            Column("Items", lambda row: row.total, cells.COUNT),
            Column("Relevant", lambda row: row.relevant, cells.COUNT),
        ],
        topics,
    )
