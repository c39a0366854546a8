"""The pages about pools, judging and qrels."""

from assessment.views.assignments import assignment_apply, assignment_import, assignment_list, assignment_share
from assessment.views.guidelines import guideline_detail, guideline_edit
from assessment.views.judging import judge, judgment_list
from assessment.views.judginghome import judging_home
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
    "ticket_detail",
    "ticket_list",
    "touched_list",
]
