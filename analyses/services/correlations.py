"""How the measures of a board correlate over its runs, with those of special questions."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from analyses.services.special_questions import round_answers
from arqkit.comparison.correlation import Correlations, correlations
from arqkit.leaderboard import Board
from arqlab.core.caches import cached_value, key_of
from arqlab.core.models import Task
from assessment.models import Round
from assessment.qrels.selectors.drafts import host_of

COEFFICIENT = 2.5e-6
"""The seconds that the coefficients of two measures take for a run."""


class MeasureColumn(NamedTuple):
    """A measure with its values by run."""

    label: str
    heading: str
    values: dict[int, float]


class MeasureCorrelations(NamedTuple):
    """The coefficients of each pair of columns, over the runs that compete."""

    columns: Sequence[MeasureColumn]
    runs: int
    matrices: Correlations


def measure_correlations(
    board: Board, further: Sequence[MeasureColumn] = ()
) -> MeasureCorrelations:
    """Return the correlations of the measures of a board that rate runs, and of further columns."""
    runs = [row.run for row in board.rows if row.run.counts]
    board_columns = [
        MeasureColumn(
            measure.label,
            measure.heading,
            {run.key: run.values[measure.name] for run in runs if measure.name in run.values},
        )
        for measure in board.measures
        if measure.is_rating
    ]
    columns = [*board_columns, *further]
    values = np.array([[column.values.get(run.key, np.nan) for column in columns] for run in runs])
    matrix = values.reshape(len(runs), len(columns)).astype(float)
    matrices = cached_value(
        key_of("correlations", matrix.shape, matrix.tobytes()),
        lambda: correlations(matrix),
        work=COEFFICIENT * matrix.size * len(columns),
    )
    return MeasureCorrelations(columns, len(runs), matrices)


def question_rounds(task: Task) -> list[Round]:
    """Return the rounds of special questions about the items of a task's runs."""
    host = host_of(task)
    tasks = [host, task] if host else [task]
    rounds = Round.objects.that(asks=True).filter(task__in=tasks, archived_at=None)
    return list(rounds.select_related("pool", "task__lab").order_by("pk"))


def question_columns(task: Task, rounds: Sequence[Round]) -> list[MeasureColumn]:
    """Return the measures of special questions, such as MG and UI. Only organizers may see them.

    If two rounds ask the same question, the later one counts.
    """
    columns: dict[str, MeasureColumn] = {}
    for round_ in rounds:
        rows = [row for row in round_answers(round_).runs if row.run.task_id == task.pk]
        for place, question in enumerate(round_.questions):
            shares = {row.run.pk: row.shares[place].share for row in rows}
            rated = {key: share for key, share in shares.items() if share is not None}
            columns[question.key] = MeasureColumn(question.key, question.key, rated)
    return list(columns.values())
