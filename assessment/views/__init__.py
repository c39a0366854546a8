"""The pages about pools, judging and qrels."""

from assessment.views.guidelines import guideline_detail
from assessment.views.visualids import touched_list

__all__ = ["guideline_detail", "touched_list"]
