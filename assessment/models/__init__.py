"""Models of pools, rounds, assignments, judgments and qrels."""

from assessment.models.assignments import Assignment, RosterEntry, SecondPlan, TopicBid
from assessment.models.judgments import (
    DismissedFinding,
    DuplicatePosts,
    Guideline,
    GuidelineEntry,
    Judgment,
    LateLabel,
    PayRule,
    SetAsideTopic,
    Ticket,
    TicketPolicy,
)
from assessment.models.pools import Applicant, Pool, PoolInstance, PoolItem, Qrel, QrelSet, Round

__all__ = [
    "Applicant",
    "Assignment",
    "DismissedFinding",
    "DuplicatePosts",
    "Guideline",
    "GuidelineEntry",
    "Judgment",
    "LateLabel",
    "PayRule",
    "Pool",
    "PoolInstance",
    "PoolItem",
    "Qrel",
    "QrelSet",
    "RosterEntry",
    "Round",
    "SecondPlan",
    "SetAsideTopic",
    "Ticket",
    "TicketPolicy",
    "TopicBid",
]
