"""The pages about pools, judging and qrels."""

from assessment.views.qreldiff import qrels_diff
from assessment.views.qrels import qrels_current, qrels_detail, qrels_draft, qrels_list
from assessment.views.visualids import touched_list

__all__ = ["qrels_current", "qrels_detail", "qrels_diff", "qrels_draft", "qrels_list", "touched_list"]
