"""The pages about pools, judging and qrels."""

from assessment.views.assignments import assignment_apply, assignment_import, assignment_list, assignment_share
from assessment.views.guidelines import guideline_detail
from assessment.views.judging import judge, judgment_list
from assessment.views.visualids import touched_list

__all__ = [
    "assignment_apply",
    "assignment_import",
    "assignment_list",
    "assignment_share",
    "guideline_detail",
    "judge",
    "judgment_list",
    "touched_list",
]
