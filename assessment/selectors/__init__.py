"""What is read for judging, about qrels, and about judgments that other visual ids touch."""

from assessment.selectors.drafts import (
    Draft,
    draft_of,
    items_at,
    levels_of,
    pooled_instances,
    with_current,
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
    "Shown",
    "TopicJudgments",
    "assigned_topics",
    "draft_of",
    "free_for",
    "items_at",
    "judged_formulas",
    "lab_fingerprint",
    "lab_summary",
    "levels_of",
    "open_items",
    "own_judgments",
    "pooled_instances",
    "progress_of",
    "qrel_versions",
    "qrels_frame",
    "qrels_named",
    "shown_instances",
    "topic_judgments",
    "touched_judgments",
    "version_topics",
    "waiting_items",
    "with_current",
]
