"""What is read about qrels, and about judgments that other visual ids touch."""

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
    qrels_frame,
    qrels_named,
    topic_judgments,
)
from assessment.selectors.visualids import judged_formulas, touched_judgments
from assessment.selectors.work import TopicWork, judged_rows, next_topic, work_on

__all__ = [
    "FREE",
    "Current",
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
    "guideline_text",
    "is_judged_by",
    "judged_formulas",
    "judged_rows",
    "lab_fingerprint",
    "lab_summary",
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
    "preset_of",
    "presets_for",
    "progress_of",
    "qrels_frame",
    "qrels_named",
    "shown_item",
    "submitted_item",
    "topic_judgments",
    "topic_sizes",
    "touched_judgments",
    "valid_runs",
    "work_on",
]
