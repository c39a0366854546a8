"""What is read for judging, about qrels, and about judgments that other visual ids touch."""

from assessment.selectors.assignments import (
    AssignmentGrid,
    Judged,
    PersonRow,
    TopicRow,
    assignment_grid,
    judged_by,
    judging_staff,
    topic_counts,
)
from assessment.selectors.guidelines import (
    changed_guidelines,
    changed_lines,
    current_guideline,
    current_versions,
    guideline_text,
)
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
from assessment.selectors.ownwork import OwnWork, TaskJudging, own_work, task_judging
from assessment.selectors.qrels import (
    TopicJudgments,
    lab_fingerprint,
    lab_summary,
    qrels_frame,
    qrels_named,
    topic_judgments,
)
from assessment.selectors.tickets import label_now, open_tickets, own_answered_tickets, tickets_of
from assessment.selectors.visualids import judged_formulas, touched_judgments
from assessment.selectors.work import LABELS, TopicWork, judged_rows, next_topic, work_on

__all__ = [
    "LABELS",
    "AssignmentGrid",
    "Judged",
    "OwnWork",
    "PersonRow",
    "Shown",
    "TaskJudging",
    "TopicJudgments",
    "TopicRow",
    "TopicWork",
    "assigned_topics",
    "assignment_grid",
    "changed_guidelines",
    "changed_lines",
    "current_guideline",
    "current_versions",
    "free_for",
    "guideline_text",
    "judged_by",
    "judged_formulas",
    "judged_rows",
    "judging_staff",
    "lab_fingerprint",
    "lab_summary",
    "label_now",
    "next_topic",
    "open_items",
    "open_tickets",
    "own_answered_tickets",
    "own_judgments",
    "own_work",
    "progress_of",
    "qrels_frame",
    "qrels_named",
    "shown_instances",
    "task_judging",
    "tickets_of",
    "topic_counts",
    "topic_judgments",
    "touched_judgments",
    "waiting_items",
    "work_on",
]
