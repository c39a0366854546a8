"""What is read about qrels, and about judgments that other visual ids touch."""

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

__all__ = [
    "PoolChoice",
    "PoolPlan",
    "TopicJudgments",
    "can_be_discarded",
    "judged_formulas",
    "lab_fingerprint",
    "lab_summary",
    "plan_pool",
    "pool_file",
    "pool_news",
    "pool_numbered",
    "pool_sizes",
    "poolable_runs",
    "preset_of",
    "presets_for",
    "qrels_frame",
    "qrels_named",
    "topic_judgments",
    "topic_sizes",
    "touched_judgments",
    "valid_runs",
]
