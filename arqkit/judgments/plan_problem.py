"""The input of a plan of assignments: topics, assessors with their hours, and preferences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

HOUR = 3600


class Preference(StrEnum):
    """How much an assessor wants to judge a topic."""

    GLADLY = "gladly"
    IF_NEEDED = "if-needed"
    NO = "no"


SATISFACTION: Mapping[Preference | None, int] = MappingProxyType(
    {Preference.GLADLY: 2, Preference.IF_NEEDED: 1, None: 0}
)
"""How good a planned topic is for its assessor; None means that they marked nothing."""


class PlanTopic(NamedTuple):
    """A topic with its number of labels. A plan keeps the given assessors and the given second.

    With `is_single`, it gets no other second assessor.
    """

    name: str
    labels: int
    assessors: tuple[str, ...] = ()
    second: str = ""
    is_single: bool = False


class PlanAssessor(NamedTuple):
    """An assessor with their expected seconds per label, and the hours offered (None: no limit)."""

    name: str
    seconds: float
    hours: float | None = None

    def hours_for(self, topic: PlanTopic) -> float:
        """Return the expected hours for all labels of a topic."""
        return topic.labels * self.seconds / HOUR


Candidate = tuple[PlanTopic, PlanAssessor]
"""A topic and an assessor who may judge it."""


@dataclass(frozen=True)
class PlanProblem:
    """Topics, assessors, bids by topic and assessor, and how many topics get a second assessor."""

    topics: Sequence[PlanTopic]
    assessors: Sequence[PlanAssessor]
    bids: Mapping[tuple[str, str], Preference]
    overlap: int = 0

    @property
    def unassigned(self) -> list[PlanTopic]:
        """Return the topics without a given assessor."""
        return [topic for topic in self.topics if not topic.assessors]

    @property
    def missing_overlap(self) -> int:
        """Return the number of topics that still need a second assessor."""
        return max(0, self.overlap - sum(bool(topic.second) for topic in self.topics))

    @cached_property
    def firsts(self) -> list[Candidate]:
        """Return who may judge which unassigned topic."""
        return [
            (topic, assessor)
            for topic in self.unassigned
            for assessor in self.assessors
            if assessor.name != topic.second and self.is_willing(topic, assessor)
        ]

    @cached_property
    def seconds(self) -> list[Candidate]:
        """Return who may be the second assessor of which topic."""
        return [
            (topic, assessor)
            for topic in self.topics
            if topic.assessors and not topic.second and not topic.is_single
            for assessor in self.assessors
            if assessor.name not in topic.assessors and self.is_willing(topic, assessor)
        ]

    @cached_property
    def fixed_hours(self) -> dict[str, float]:
        """Return the hours of given assignments by assessor; those of a topic share its items."""
        hours = {assessor.name: 0.0 for assessor in self.assessors}
        for topic in self.topics:
            for assessor in self.assessors:
                if assessor.name in topic.assessors:
                    hours[assessor.name] += assessor.hours_for(topic) / len(topic.assessors)
                if assessor.name == topic.second:
                    hours[assessor.name] += assessor.hours_for(topic)
        return hours

    @cached_property
    def spare_hours(self) -> dict[str, float]:
        """Return the offered hours that the given assignments leave, by assessor."""
        return {
            assessor.name: float("inf")
            if assessor.hours is None
            else max(0.0, assessor.hours - self.fixed_hours[assessor.name])
            for assessor in self.assessors
        }

    @cached_property
    def fair_hours(self) -> dict[str, float]:
        """Return the hours to which a load is compared: those offered, else the mean offer."""
        offers = [assessor.hours for assessor in self.assessors if assessor.hours is not None]
        mean = sum(offers) / len(offers) if offers else 0.0
        return {
            assessor.name: (mean if assessor.hours is None else assessor.hours) or 1.0
            for assessor in self.assessors
        }

    @cached_property
    def fair_share(self) -> float:
        """Return the share of their hours that all would judge if the work were spread evenly."""
        hours = self.first_hours + self.second_hours + sum(self.fixed_hours.values())
        return hours / (sum(self.fair_hours.values()) or 1.0)

    @property
    def first_hours(self) -> float:
        """Return the expected hours for the unassigned topics, at the mean pace."""
        return sum(map(self._mean_hours, self.unassigned))

    @property
    def second_hours(self) -> float:
        """Return the expected hours for the missing overlap, at the mean pace and size."""
        return (
            self.missing_overlap * sum(map(self._mean_hours, self.topics)) / (len(self.topics) or 1)
        )

    def is_willing(self, topic: PlanTopic, assessor: PlanAssessor) -> bool:
        """Return whether an assessor has not declined a topic."""
        return self.bids.get((topic.name, assessor.name)) is not Preference.NO

    def satisfaction(self, topic: PlanTopic, assessor: PlanAssessor) -> int:
        """Return how good a planned topic is for its assessor."""
        return SATISFACTION[self.bids.get((topic.name, assessor.name))]

    def _mean_hours(self, topic: PlanTopic) -> float:
        hours = [assessor.hours_for(topic) for assessor in self.assessors]
        return sum(hours) / (len(hours) or 1)
