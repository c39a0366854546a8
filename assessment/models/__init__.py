"""Models of pools, assignments, judgments and qrels."""

from assessment.models.assignments import Assignment, Guideline
from assessment.models.judgments import Judgment, Ticket
from assessment.models.pools import Pool, PoolInstance, PoolItem
from assessment.models.qrels import Qrel, QrelSet
from assessment.models.radar import DismissedFinding, DuplicatePosts
from assessment.models.viability import SetAsideTopic

__all__ = [
    "Assignment",
    "DismissedFinding",
    "DuplicatePosts",
    "Guideline",
    "Judgment",
    "Pool",
    "PoolInstance",
    "PoolItem",
    "Qrel",
    "QrelSet",
    "SetAsideTopic",
    "Ticket",
]
