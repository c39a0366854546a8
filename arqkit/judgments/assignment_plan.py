"""Plans of who judges which topic, and which topics a second assessor judges later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from arqkit.judgments.plan_model import Choice, PlanModel
from arqkit.judgments.plan_problem import PlanProblem


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
    given = [
        topic if topic.assessors else topic._replace(assessors=(first.assessors[topic.name],))
        for topic in problem.topics
        if topic.assessors or topic.name in first.assessors
    ]
    begun = replace(problem, topics=given)
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
    kept = {name: hours * part for name, hours in spare.items()}
    is_certain = True
    if {topic.name for topic in topics} == {topic.name for topic, _ in problem.firsts}:
        for hours in (kept, spare) if part < 1 else (spare,):
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
    for one in problem.assessors:
        for name, assessor in (*first.items(), *second.items()):
            if assessor == one.name:
                hours[assessor] += one.hours_for(topics[name])
    seconds = {name: topic.second for name, topic in topics.items() if topic.second} | dict(second)
    checked = {first.get(name) for name in seconds}
    checked |= {assessor for name in seconds for assessor in topics[name].assessors}
    people = [one.name for one in problem.assessors if problem.overlap]
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
    for topic, one in problem.firsts:
        if topic.name in missing:
            offered = float("inf") if one.hours is None else one.hours
            short = max(0.0, hours[one.name] + one.hours_for(topic) - offered)
            known = missing[topic.name]
            missing[topic.name] = short if known is None else min(known, short)
    return [Unplanned(topic, short) for topic, short in missing.items()]
