"""What loads labs and qrels, builds pools, takes judgments, and freezes qrels."""

from assessment.services.loading import LoadedLab, load_lab, load_qrels

__all__ = ["LoadedLab", "load_lab", "load_qrels"]
