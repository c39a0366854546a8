"""Models of pools, rounds, assignments, judgments and qrels."""

from assessment.models.assignments import (
    Assignment,
    RosterEntry,
    SecondPlan,
    SetAsideTopic,
    TopicBid,
)
from assessment.models.findings import DismissedFinding, DuplicatePosts
from assessment.models.guidelines import Guideline, GuidelineEntry
from assessment.models.hours import PayRule
from assessment.models.judgments import Judgment, LateLabel
from assessment.models.pools import Applicant, Pool, PoolInstance, PoolItem, Round
from assessment.models.qrels import Qrel, QrelSet
from assessment.models.tickets import Ticket, TicketPolicy

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
