"""The runs of Task 1 cut to their first answers, with the measures of Task 3."""

from dataclasses import replace

from analyses.services.special_questions import MEASURES
from arqkit.measures.names import parse_measures
from arqlab.core.models import Task, Visitor
from assessment.qrels.selectors.versions import qrels_named
from evaluation.permissions import ScoreAccess, VisibleBoard, score_access_of
from evaluation.selectors.references import answers_task
from evaluation.services.further_measures import FurtherMeasures, with_measures


def first_answers_access(user: Visitor, task: Task) -> ScoreAccess | None:
    """Return a user's access to the board of Task 1, or None if they see no board."""
    source = answers_task(task) if task.kind == Task.Kind.GENERATED_ANSWERS else None
    if source is None:
        return None
    access = score_access_of(user, source)
    has_board = access.leaderboard is not None or qrels_named(source) is not None
    return access if access.sees_everything and has_board else None


def first_answers(visible: VisibleBoard) -> FurtherMeasures:
    """Return the board with the measures of Task 3 instead of its own.

    A mean is over the topics of the qrels that a run answered. Answers without a judgment count 0.
    """
    measures = parse_measures(MEASURES, relevant_from=visible.qrel_set.relevant_from)
    rows = tuple(row._replace(run=replace(row.run, values={})) for row in visible.board.rows)
    bare = replace(visible, board=replace(visible.board, measures=(), ceilings={}, rows=rows))
    return with_measures(bare, "", measures, answered_only=True)
