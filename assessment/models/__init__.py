"""Models of pools, rounds, assignments, judgments and qrels."""

from assessment.models.assignments import Assignment, Guideline
from assessment.models.judgments import Judgment, Ticket
from assessment.models.pools import Pool, PoolInstance, PoolItem
from assessment.models.qrels import Qrel, QrelSet
from assessment.models.rosters import RosterEntry, SecondPlan, TopicBid
from assessment.models.rounds import Round

__all__ = [
    "Assignment",
    "Guideline",
    "Judgment",
    "Pool",
    "PoolInstance",
    "PoolItem",
    "Qrel",
    "QrelSet",
    "RosterEntry",
    "Round",
    "SecondPlan",
    "Ticket",
    "TopicBid",
]
