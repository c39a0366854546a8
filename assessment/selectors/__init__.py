"""What is read for judging, about qrels, and about judgments that other visual ids touch."""

from assessment.selectors.assignments import (
    AssignmentGrid,
    Judged,
    PersonRow,
    TopicRow,
    assessors_of,
    assignment_grid,
    judged_by,
    judging_staff,
    topic_counts,
)
from assessment.selectors.guidelines import current_guideline, guideline_text
from assessment.selectors.judging import (
    Shown,
    assigned_topics,
    free_for,
    open_items,
    own_judgments,
    progress_of,
    shown_instances,
    waiting_items,
)
from assessment.selectors.qrels import (
    TopicJudgments,
    lab_fingerprint,
    lab_summary,
    qrels_frame,
    qrels_named,
    topic_judgments,
)
from assessment.selectors.visualids import judged_formulas, touched_judgments
from assessment.selectors.work import LABELS, TopicWork, judged_rows, next_topic, work_on

__all__ = [
    "LABELS",
    "AssignmentGrid",
    "Judged",
    "PersonRow",
    "Shown",
    "TopicJudgments",
    "TopicRow",
    "TopicWork",
    "assessors_of",
    "assigned_topics",
    "assignment_grid",
    "current_guideline",
    "free_for",
    "guideline_text",
    "judged_by",
    "judged_formulas",
    "judged_rows",
    "judging_staff",
    "lab_fingerprint",
    "lab_summary",
    "next_topic",
    "open_items",
    "own_judgments",
    "progress_of",
    "qrels_frame",
    "qrels_named",
    "shown_instances",
    "topic_counts",
    "topic_judgments",
    "touched_judgments",
    "waiting_items",
    "work_on",
]
