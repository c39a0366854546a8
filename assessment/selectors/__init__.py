"""What is read about qrels, and about judgments that other visual ids touch."""

from assessment.selectors.drafts import Draft, draft_of, items_at, levels_of, pooled_instances, with_current
from assessment.selectors.guidelines import current_guideline, guideline_text
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
from assessment.selectors.poolplans import PoolPlan, plan_pool
from assessment.selectors.pools import (
    can_be_discarded,
    pool_file,
    pool_news,
    pool_numbered,
    pool_sizes,
    preset_of,
    presets_for,
    topic_sizes,
)
from assessment.selectors.poolsources import PoolChoice, poolable_runs, valid_runs
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
from assessment.selectors.work import TopicWork, judged_rows, next_topic, work_on

__all__ = [
    "FREE",
    "Current",
    "Draft",
    "PoolChoice",
    "PoolPlan",
    "ShownInstance",
    "ShownItem",
    "Submitted",
    "TopicJudgments",
    "TopicPath",
    "TopicWork",
    "assigned_topics",
    "can_be_discarded",
    "current_guideline",
    "draft_of",
    "guideline_text",
    "is_judged_by",
    "items_at",
    "judged_formulas",
    "judged_rows",
    "lab_fingerprint",
    "lab_summary",
    "levels_of",
    "lock_next",
    "moment",
    "next_topic",
    "own_judgments",
    "plan_pool",
    "pool_file",
    "pool_news",
    "pool_numbered",
    "pool_sizes",
    "poolable_runs",
    "pooled_instances",
    "preset_of",
    "presets_for",
    "progress_of",
    "qrel_versions",
    "qrels_frame",
    "qrels_named",
    "shown_item",
    "submitted_item",
    "topic_judgments",
    "topic_sizes",
    "touched_judgments",
    "valid_runs",
    "version_topics",
    "with_current",
    "work_on",
]
