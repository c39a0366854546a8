"""What is read about qrels, and about judgments that other visual ids touch."""

from assessment.selectors.guidelines import current_guideline, guideline_text
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
    "TopicJudgments",
    "current_guideline",
    "guideline_text",
    "judged_formulas",
    "lab_fingerprint",
    "lab_summary",
    "qrels_frame",
    "qrels_named",
    "topic_judgments",
    "touched_judgments",
]
