"""The pages about pools, judging and qrels."""

from assessment.views.guidelines import guideline_detail
from assessment.views.judging import judge, judgment_list
from assessment.views.poolplans import pool_freeze, pool_plan
from assessment.views.pools import pool_close, pool_detail, pool_discard, pool_list, pool_open
from assessment.views.visualids import touched_list

__all__ = [
    "guideline_detail",
    "judge",
    "judgment_list",
    "pool_close",
    "pool_detail",
    "pool_discard",
    "pool_freeze",
    "pool_list",
    "pool_open",
    "pool_plan",
    "touched_list",
]
