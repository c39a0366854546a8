"""Models of pools, assignments, judgments and qrels."""

from assessment.models.assignments import Assignment
from assessment.models.guidelines import Guideline, GuidelineEntry
from assessment.models.judgments import Judgment, Ticket
from assessment.models.pools import Pool, PoolInstance, PoolItem
from assessment.models.qrels import Qrel, QrelSet

__all__ = [
    "Assignment",
    "Guideline",
    "GuidelineEntry",
    "Judgment",
    "Pool",
    "PoolInstance",
    "PoolItem",
    "Qrel",
    "QrelSet",
    "Ticket",
]
