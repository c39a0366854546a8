"""The correlation of the measures of a board over its runs. Nothing is stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from arqkit.comparison.correlation import Correlations, correlations
from arqkit.leaderboard import Board
from arqlab.core.models import Task
from assessment.models import Round
from assessment.qrels.selectors.drafts import host_of
from evaluation.services.questions import round_answers


class Column(NamedTuple):
    """A measure with its values by run."""

    label: str
    heading: str
    values: dict[int, float]


class MeasureCorrelations(NamedTuple):
    """The coefficients of each pair of columns, over the runs that compete."""

    columns: Sequence[Column]
    runs: int
    matrices: Correlations


def measure_correlations(board: Board, further: Sequence[Column] = ()) -> MeasureCorrelations:
    """Return the correlations of the measures of a board that rate runs, and of further columns."""
    runs = [row.run for row in board.rows if row.run.counts]
    own = [
        Column(
            one.label,
            one.heading,
            {run.key: run.values[one.name] for run in runs if one.name in run.values},
        )
        for one in board.measures
        if one.is_rating
    ]
    columns = [*own, *further]
    values = np.array([[one.values.get(run.key, np.nan) for one in columns] for run in runs])
    matrix = values.reshape(len(runs), len(columns)).astype(float)
    return MeasureCorrelations(columns, len(runs), correlations(matrix))


def question_rounds(task: Task) -> list[Round]:
    """Return the rounds of special questions about the items of a task's runs."""
    tasks = [each for each in (host_of(task), task) if each]
    rounds = Round.objects.filter(task__in=tasks, kind=Round.Kind.QUESTIONS, archived_at=None)
    return list(rounds.select_related("pool", "task__lab").order_by("pk"))


def question_columns(task: Task, rounds: Sequence[Round]) -> list[Column]:
    """Return the measures of special questions, such as MG and UI. Only organizers may see them.

    If two rounds ask the same question, the later one counts.
    """
    columns: dict[str, Column] = {}
    for found in rounds:
        rows = [row for row in round_answers(found).runs if row.run.task_id == task.pk]
        for place, question in enumerate(found.questions):
            shares = {row.run.pk: row.shares[place].share for row in rows}
            known = {key: share for key, share in shares.items() if share is not None}
            columns[question.key] = Column(question.key, question.key, known)
    return list(columns.values())
