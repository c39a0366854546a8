"""The pages about pools, judging and qrels."""

from assessment.views.assignments import assignment_apply, assignment_import, assignment_list, assignment_share
from assessment.views.guidelines import guideline_detail, guideline_edit
from assessment.views.judging import judge, judgment_list
from assessment.views.judginghome import judging_home
from assessment.views.poolplans import pool_freeze, pool_plan
from assessment.views.pools import pool_close, pool_detail, pool_discard, pool_list, pool_open
from assessment.views.qreldiff import qrels_diff
from assessment.views.qrels import qrels_current, qrels_detail, qrels_draft, qrels_list
from assessment.views.tickets import ticket_detail, ticket_list
from assessment.views.visualids import touched_list

__all__ = [
    "assignment_apply",
    "assignment_import",
    "assignment_list",
    "assignment_share",
    "guideline_detail",
    "guideline_edit",
    "judge",
    "judging_home",
    "judgment_list",
    "pool_close",
    "pool_detail",
    "pool_discard",
    "pool_freeze",
    "pool_list",
    "pool_open",
    "pool_plan",
    "qrels_current",
    "qrels_detail",
    "qrels_diff",
    "qrels_draft",
    "qrels_list",
    "ticket_detail",
    "ticket_list",
    "touched_list",
]
