"""What is read for judging, about qrels, and about judgments that other visual ids touch."""

from assessment.selectors.items import (
    FREE,
    Current,
    ShownInstance,
    ShownItem,
    Submitted,
    TopicPath,
    lock_next,
    moment,
    shown_item,
    submitted_item,
)
from assessment.selectors.judging import assigned_topics, is_judged_by, own_judgments, progress_of
from assessment.selectors.qrels import (
    TopicJudgments,
    lab_fingerprint,
    lab_summary,
    qrels_frame,
    qrels_named,
    topic_judgments,
)
from assessment.selectors.visualids import judged_formulas, touched_judgments

__all__ = [
    "FREE",
    "Current",
    "ShownInstance",
    "ShownItem",
    "Submitted",
    "TopicJudgments",
    "TopicPath",
    "assigned_topics",
    "is_judged_by",
    "judged_formulas",
    "lab_fingerprint",
    "lab_summary",
    "lock_next",
    "moment",
    "own_judgments",
    "progress_of",
    "qrels_frame",
    "qrels_named",
    "shown_item",
    "submitted_item",
    "topic_judgments",
    "touched_judgments",
]
