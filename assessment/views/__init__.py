"""The pages about pools, judging and qrels."""

from assessment.views.visualids import touched_list

__all__ = ["touched_list"]
