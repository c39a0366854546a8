"""What loads labs and qrels, builds pools, takes judgments, and freezes qrels."""

from assessment.services.guidelines import guideline_html, write_guideline
from assessment.services.loading import LoadedLab, load_lab, load_qrels

__all__ = ["LoadedLab", "guideline_html", "load_lab", "load_qrels", "write_guideline"]
