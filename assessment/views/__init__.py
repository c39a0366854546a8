"""The pages about pools, judging and qrels."""

from assessment.views.guidelines import guideline_detail
from assessment.views.judging import judge, judgment_list
from assessment.views.visualids import touched_list

__all__ = ["guideline_detail", "judge", "judgment_list", "touched_list"]
