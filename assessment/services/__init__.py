"""What loads labs and qrels, builds pools, takes judgments, and freezes qrels."""

from assessment.services.importing import ImportedJudgments, import_judgments
from assessment.services.loading import LoadedLab, load_lab, load_qrels
from assessment.services.qrels import choose_current_qrels, freeze_qrels

__all__ = [
    "ImportedJudgments",
    "LoadedLab",
    "choose_current_qrels",
    "freeze_qrels",
    "import_judgments",
    "load_lab",
    "load_qrels",
]
