"""Runs of Task 1, cut to their first answers, by the measures of Task 3 (004 §6.3.1, Table 7)."""

from __future__ import annotations

from dataclasses import replace

from arqkit.measures.names import parse_measures
from arqlab.core.models import Task, Visitor
from assessment.qrels.selectors.versions import qrels_named
from evaluation.permissions import ScoreAccess, Sight, VisibleBoard, score_access_of
from evaluation.services.further_measures import (
    SECONDS,
    FurtherMeasures,
    extended_board,
    further_scores,
)

MEASURES = ("AR", "P@1")


def first_answers_task(task: Task) -> Task | None:
    """Return the task of the lab whose runs retrieve answers, for a task of generated answers."""
    if task.kind != Task.Kind.GENERATED_ANSWERS:
        return None
    tasks = Task.objects.filter(lab=task.lab_id, kind=Task.Kind.ANSWERS).select_related("lab")
    return tasks.order_by("position", "pk").first()


def first_answers_access(user: Visitor, task: Task) -> ScoreAccess | None:
    """Return a user's access to the board of Task 1, or None if they see no board."""
    source = first_answers_task(task)
    if source is None:
        return None
    access = score_access_of(user, source)
    has_board = access.leaderboard is not None or qrels_named(source) is not None
    return access if access.sight is Sight.EVERYTHING and has_board else None


def first_answers(shown: VisibleBoard, *, waits: bool = False) -> FurtherMeasures:
    """Return the board with the measures of Task 3 instead of its own.

    A mean is over the topics of the qrels that a run answered. Answers without a judgment count 0.
    """
    measures = parse_measures(MEASURES, relevant_from=shown.qrel_set.relevant_from)
    keys = [row.run.key for row in shown.board.rows]
    seconds = None if waits else SECONDS
    scores = further_scores(shown.qrel_set, keys, measures, answered_only=True, seconds=seconds)
    rows = tuple(row._replace(run=replace(row.run, values={})) for row in shown.board.rows)
    bare = replace(shown, board=replace(shown.board, measures=(), ceilings={}, rows=rows))
    found = extended_board(bare, measures, scores.values)
    return FurtherMeasures(found, "", "", len(measures), len(keys), scores.waiting)
