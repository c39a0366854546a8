"""What is read about qrels, and about judgments that other visual ids touch."""

from assessment.selectors.drafts import (
    Draft,
    DroppedTopic,
    draft_of,
    items_at,
    levels_of,
    pooled_instances,
    with_current,
)
from assessment.selectors.qrels import (
    TopicJudgments,
    lab_fingerprint,
    lab_summary,
    qrel_versions,
    qrels_frame,
    qrels_named,
    topic_judgments,
    version_topics,
)
from assessment.selectors.visualids import judged_formulas, touched_judgments

__all__ = [
    "Draft",
    "DroppedTopic",
    "TopicJudgments",
    "draft_of",
    "items_at",
    "judged_formulas",
    "lab_fingerprint",
    "lab_summary",
    "levels_of",
    "pooled_instances",
    "qrel_versions",
    "qrels_frame",
    "qrels_named",
    "topic_judgments",
    "touched_judgments",
    "version_topics",
    "with_current",
]
