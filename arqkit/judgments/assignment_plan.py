"""Plans of who judges which topic, and which topics a second assessor judges later."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

HOUR = 3600

FAIRNESS_GAP = 0.05
"""How far the largest load may be above the smallest possible one, as a share of it."""

SOLVING_SECONDS = 1.5
"""The time for each goal, after which the best choice so far is taken."""

Row = dict[int, float]
"""Factors by column."""

OPTIMAL, INFEASIBLE = 0, 2
"""Results of the solver that are certain."""


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


class Choice(NamedTuple):
    """The assessor of each chosen topic, and whether it is certain that no choice is better."""

    assessors: dict[str, str]
    is_best: bool


class PlanModel:
    """Chooses among candidates: at most one assessor for a topic, and `most` topics in all.

    The columns are the candidates, "is checked" and "checks" for each assessor if `checks` is true,
    and the largest load. Only the candidates are declared whole; the others follow from them.
    """

    def __init__(
        self,
        problem: PlanProblem,
        candidates: Sequence[Candidate],
        spare: Mapping[str, float],
        *,
        most: int,
        checks: bool = False,
    ) -> None:
        """State what every choice must obey; `spare` has the free hours by assessor."""
        self.problem, self.candidates = problem, candidates
        self.people = [assessor.name for assessor in problem.assessors]
        self.checked_at = len(candidates)
        self.checking_at = self.checked_at + len(self.people) * checks
        self.load_at = self.checking_at + len(self.people) * checks
        self.rows: list[tuple[Row, float]] = []
        self.has_all = False
        self.values = [0.0] * (self.load_at + 1)
        self._at_most(dict.fromkeys(range(self.checked_at), 1.0), most)
        for topic in problem.topics:
            self._at_most(self._columns(topic=topic.name), 1)
        for assessor in problem.assessors:
            self._state_hours(assessor.name, spare[assessor.name])
        if checks:
            self._state_checks()

    def require_all(self, topics: Sequence[PlanTopic]) -> None:
        """Allow only choices with all these topics."""
        self.has_all = True
        for topic in topics:
            self.rows.append((self._columns(topic=topic.name, factor=-1.0), -1.0))

    def choose(self) -> Choice:
        """Return the best choice found. It is empty if none obeys the rules.

        The goals, in this order, are: many topics, many assessors who check or are checked, much
        satisfaction, and a small largest load. All but the last are one sum: if the time is up
        between two goals, the choice found for the first says nothing about the second.
        """
        goal = self._satisfaction() if self.has_all else self._together()
        is_best = self._minimize(goal, 0.0)
        if not any(self.values):
            return Choice({}, is_best)
        # The sum is whole, so half of one allows for rounding and for no worse choice.
        reached = round(sum(factor * self.values[at] for at, factor in goal.items()))
        self._at_most(goal, reached + 0.5)
        is_best &= self._minimize({self.load_at: 1.0}, FAIRNESS_GAP)
        assessors = {
            topic.name: assessor.name
            for (topic, assessor), value in zip(self.candidates, self.values, strict=False)
            if value > 0.5
        }
        return Choice(assessors, is_best)

    def _minimize(self, goal: Row, gap: float) -> bool:
        """Find values with the smallest sum; return whether it is certain that none are better."""
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import csr_array

        if not self.candidates:
            return True
        width = self.load_at + 1
        factors = [factor for row, _ in self.rows for factor in row.values()]
        at = [place for place, (row, _) in enumerate(self.rows) for _ in row]
        columns = [column for row, _ in self.rows for column in row]
        matrix = csr_array((factors, (at, columns)), shape=(len(self.rows), width))
        result = milp(
            [goal.get(column, 0.0) for column in range(width)],
            integrality=(np.arange(width) < self.checked_at).astype(np.int8),
            bounds=Bounds(0, [1.0] * self.load_at + [float("inf")]),
            constraints=LinearConstraint(matrix, ub=[limit for _, limit in self.rows]),
            options={"time_limit": SOLVING_SECONDS, "mip_rel_gap": gap},
        )
        if result.x is not None:
            self.values = [float(value) for value in result.x]
        return result.status in (OPTIMAL, INFEASIBLE)

    def _columns(self, *, topic: str = "", assessor: str = "", factor: float = 1.0) -> Row:
        """Return a factor for each candidate with the topic or the assessor."""
        return {
            at: factor
            for at, (candidate_topic, candidate) in enumerate(self.candidates)
            if topic in ("", candidate_topic.name) and assessor in ("", candidate.name)
        }

    def _at_most(self, row: Row, limit: float) -> None:
        if row and limit < float("inf"):
            self.rows.append((row, limit))

    def _state_hours(self, assessor: str, spare: float) -> None:
        """Keep to the free hours, and make the largest load at least that of the assessor."""
        problem = self.problem
        hours = {
            at: self.candidates[at][1].hours_for(self.candidates[at][0])
            for at in self._columns(assessor=assessor)
        }
        self._at_most(hours, spare + 1e-9)
        base = problem.fair_hours[assessor]
        # Given assignments above the fair share cannot be mended, so they do not count.
        fixed = min(problem.fixed_hours[assessor] / base, problem.fair_share)
        share = {at: part / base for at, part in hours.items()}
        self._at_most(share | {self.load_at: -1.0}, -fixed)

    def _state_checks(self) -> None:
        """State when an assessor is checked, and when they check.

        Assessors are checked if one of their topics has a second assessor. They check if they are
        the second assessor of a topic.
        """
        topics = self.problem.topics
        checked = {name for topic in topics if topic.second for name in topic.assessors}
        checking = {topic.second for topic in topics}
        for place, name in enumerate(self.people):
            topics_checked: Row = {self.checked_at + place: 1.0}
            for topic in topics:
                if name in topic.assessors:
                    topics_checked |= self._columns(topic=topic.name, factor=-1.0)
            self._at_most(topics_checked, float(name in checked))
            others = self._columns(assessor=name, factor=-1.0)
            self._at_most(others | {self.checking_at + place: 1.0}, float(name in checking))

    def _counts(self) -> Row:
        """Topics, then checks: no number of checks outweighs a topic."""
        checks = dict.fromkeys(range(self.checked_at, self.load_at), -1.0)
        return checks | dict.fromkeys(range(self.checked_at), -len(checks) - 1.0)

    def _together(self) -> Row:
        """Counts, then satisfaction: no satisfaction outweighs a topic or a check."""
        satisfaction = self._satisfaction()
        weight = 1.0 + max(SATISFACTION.values()) * len(self.problem.topics)
        return {
            at: weight * factor + satisfaction.get(at, 0.0) for at, factor in self._counts().items()
        }

    def _satisfaction(self) -> Row:
        return {
            at: -float(self.problem.satisfaction(*candidate))
            for at, candidate in enumerate(self.candidates)
        }


class Unplanned(NamedTuple):
    """A topic without an assessor in a plan.

    `short_by` is the smallest number of hours that a willing assessor would have to add to their
    offer, or None if nobody is willing.
    """

    topic: str
    short_by: float | None


@dataclass(frozen=True)
class AssignmentPlan:
    """The assessor of each newly planned topic, and the new second assessors.

    `hours` has the expected hours by assessor, with those of the given assignments. `unchecked`
    lists the assessors none of whose topics has a second assessor, and `not_checking` those who are
    not a second assessor; both are empty if no overlap is wanted. `is_optimal` is false if the time
    was too short to be certain that no plan is better.
    """

    first: dict[str, str]
    second: dict[str, str]
    hours: dict[str, float]
    unplanned: list[Unplanned]
    missing_seconds: int
    unchecked: list[str]
    not_checking: list[str]
    is_optimal: bool


def plan_assignments(problem: PlanProblem) -> AssignmentPlan:
    """Return the best plan in which nobody gets a topic they declined, or more hours than offered.

    First, the unassigned topics get assessors. A choice is better if, in this order, it has more
    topics; its sum of `SATISFACTION` is larger; its largest load is a smaller share of the hours
    offered (up to `FAIRNESS_GAP`). Everyone keeps the same share of their hours for the overlap,
    unless a topic would then have no assessor.

    Then, topics get second assessors by the same goals. After the number of topics comes the number
    of assessors who are checked and who check others.
    """
    first = _chosen_firsts(problem)
    topics = [
        topic if topic.assessors else topic._replace(assessors=(first.assessors[topic.name],))
        for topic in problem.topics
        if topic.assessors or topic.name in first.assessors
    ]
    begun = replace(problem, topics=topics)
    second = PlanModel(
        begun, begun.seconds, begun.spare_hours, most=problem.missing_overlap, checks=True
    ).choose()
    return plan_of(
        problem, first.assessors, second.assessors, is_optimal=first.is_best and second.is_best
    )


def _chosen_firsts(problem: PlanProblem) -> Choice:
    """Choose among all topics: with hours kept for the overlap, else without, else most of them."""
    topics, spare = problem.unassigned, problem.spare_hours
    part = problem.first_hours / ((problem.first_hours + problem.second_hours) or 1.0)
    reserved = {name: hours * part for name, hours in spare.items()}
    is_certain = True
    if {topic.name for topic in topics} == {topic.name for topic, _ in problem.firsts}:
        for hours in (reserved, spare) if part < 1 else (spare,):
            model = PlanModel(problem, problem.firsts, hours, most=len(topics))
            model.require_all(topics)
            choice = model.choose()
            is_certain &= choice.is_best
            if choice.assessors:
                return choice._replace(is_best=is_certain)
    choice = PlanModel(problem, problem.firsts, spare, most=len(topics)).choose()
    return choice._replace(is_best=is_certain and choice.is_best)


def plan_of(
    problem: PlanProblem,
    first: Mapping[str, str],
    second: Mapping[str, str],
    *,
    is_optimal: bool = True,
) -> AssignmentPlan:
    """Return the plan with these assessors by topic; they may have been chosen by hand."""
    topics = {topic.name: topic for topic in problem.topics}
    hours = dict(problem.fixed_hours)
    for assessor in problem.assessors:
        for name, person in (*first.items(), *second.items()):
            if person == assessor.name:
                hours[person] += assessor.hours_for(topics[name])
    seconds = {name: topic.second for name, topic in topics.items() if topic.second} | dict(second)
    checked = {first.get(name) for name in seconds}
    checked |= {assessor for name in seconds for assessor in topics[name].assessors}
    people = [assessor.name for assessor in problem.assessors if problem.overlap]
    return AssignmentPlan(
        first=dict(first),
        second=dict(second),
        hours=hours,
        unplanned=_unplanned(problem, first, hours),
        missing_seconds=max(0, problem.overlap - len(seconds)),
        unchecked=[name for name in people if name not in checked],
        not_checking=[name for name in people if name not in seconds.values()],
        is_optimal=is_optimal,
    )


def _unplanned(
    problem: PlanProblem, first: Mapping[str, str], hours: Mapping[str, float]
) -> list[Unplanned]:
    missing: dict[str, float | None] = {
        topic.name: None
        for topic in problem.topics
        if not topic.assessors and topic.name not in first
    }
    for topic, assessor in problem.firsts:
        if topic.name in missing:
            offered = float("inf") if assessor.hours is None else assessor.hours
            short = max(0.0, hours[assessor.name] + assessor.hours_for(topic) - offered)
            least = missing[topic.name]
            missing[topic.name] = short if least is None else min(least, short)
    return [Unplanned(topic, short) for topic, short in missing.items()]
