"""Models of pools, rounds, assignments, judgments and qrels."""

from assessment.models.assignments import Assignment
from assessment.models.guidelines import Guideline, GuidelineEntry
from assessment.models.judgments import Judgment, LateLabel, Ticket, TicketPolicy
from assessment.models.pools import Pool, PoolInstance, PoolItem
from assessment.models.qrels import Qrel, QrelSet
from assessment.models.radar import DismissedFinding, DuplicatePosts
from assessment.models.rosters import RosterEntry, SecondPlan, TopicBid
from assessment.models.rounds import Applicant, Round
from assessment.models.timesheets import PayRule
from assessment.models.viability import SetAsideTopic

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
