"""What is judged and what was judged: pools, who judges which topic, the judgments, and the qrels
that come of them.
"""

from assessment.models.assignments import Assignment, Guideline
from assessment.models.judgments import Judgment, Ticket
from assessment.models.pools import Pool, PoolInstance, PoolItem
from assessment.models.qrels import Qrel, QrelSet

__all__ = [
    "Assignment",
    "Guideline",
    "Judgment",
    "Pool",
    "PoolInstance",
    "PoolItem",
    "Qrel",
    "QrelSet",
    "Ticket",
]
