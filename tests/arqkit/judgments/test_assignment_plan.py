"""Plans of assignments, compared with all plans that there are."""

import itertools
import random
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arqkit.judgments import assignment_plan
from arqkit.judgments.assignment_plan import (
    PlanAssessor,
    PlanProblem,
    PlanTopic,
    Preference,
    Unplanned,
    plan_assignments,
    plan_of,
)

GLADLY, IF_NEEDED, NO = Preference
POINTS = {GLADLY: 2, IF_NEEDED: 1, None: 0, NO: -99}
HOUR = 3600.0


def problem(topics, assessors, bids="", overlap=0) -> PlanProblem:
    """Return a problem: hours by topic and offers by assessor, and bids such as `A.1 ann no`."""
    words = (line.split() for line in bids.split(",") if line)
    return PlanProblem(
        [PlanTopic(name, items) for name, items in topics.items()],
        [PlanAssessor(name, HOUR, hours) for name, hours in assessors.items()],
        {(topic, name): Preference(choice) for topic, name, choice in words},
        overlap,
    )


@st.composite
def problems(draw) -> PlanProblem:
    """Draw up to four topics and three assessors; some topics are assigned, some have a second."""
    names = ["ann", "bo", "cy"][: draw(st.integers(1, 3))]
    assessors = [
        PlanAssessor(name, draw(st.sampled_from([1800.0, 3600.0])), draw(offers)) for name in names
    ]
    topics = []
    for number in range(draw(st.integers(1, 4))):
        given = tuple(draw(st.lists(st.sampled_from(names), max_size=2, unique=True)) * 1)
        given = given if draw(st.integers(0, 3)) == 0 else ()
        others = [name for name in names if name not in given]
        second = draw(st.sampled_from(["", "", *others]))
        topics.append(PlanTopic(f"A.{number}", draw(st.integers(0, 5)), given, second))
    choices = st.sampled_from([GLADLY, IF_NEEDED, NO, None])
    drawn = {(topic.name, name): draw(choices) for topic in topics for name in names}
    bids = {pair: choice for pair, choice in drawn.items() if choice}
    return PlanProblem(topics, assessors, bids, draw(st.integers(0, 3)))


offers = st.one_of(st.none(), st.integers(0, 12).map(float))


def hours_of(given: PlanProblem, first, second) -> Counter:
    """Return the hours of each assessor, computed from the seconds."""
    people = {one.name: one.seconds / HOUR for one in given.assessors}
    hours = Counter()
    for topic in given.topics:
        judges = topic.assessors or (first.get(topic.name),)
        for name in filter(None, judges):
            hours[name] += topic.labels * people[name] / len(judges)
        if name := topic.second or second.get(topic.name):
            hours[name] += topic.labels * people[name]
    return hours


def all_choices(topics, given: PlanProblem):
    """Yield every choice of at most one assessor for each topic, whether allowed or not."""
    names = [None, *(one.name for one in given.assessors)]
    for chosen in itertools.product(names, repeat=len(topics)):
        yield {name: one for name, one in zip(topics, chosen, strict=True) if one}


def points(given: PlanProblem, chosen) -> int:
    return sum(POINTS[given.bids.get(pair)] for pair in chosen.items())


def fits(given: PlanProblem, before: Counter, after: Counter, part=1.0) -> bool:
    """Return whether no one gets more than `part` of the hours they had left."""
    return all(
        after[one.name] - before[one.name] <= max(0, one.hours - before[one.name]) * part + 1e-6
        for one in given.assessors
        if one.hours is not None and after[one.name] > before[one.name] + 1e-9
    )


def best_firsts(given: PlanProblem, part: float) -> tuple[int, int]:
    """Return the most topics that can get an assessor, and the most points with that many."""
    open_topics = [topic.name for topic in given.topics if not topic.assessors]
    fixed = hours_of(given, {}, {})
    second = {topic.name: topic.second for topic in given.topics}
    return max(
        (len(first), points(given, first))
        for first in all_choices(open_topics, given)
        if all(given.bids.get(pair) != NO for pair in first.items())
        and all(second[topic] != name for topic, name in first.items())
        and fits(given, fixed, hours_of(given, first, {}), part)
    )


def checks(given: PlanProblem, first, second) -> int:
    """Return how many assessors are checked, and how many check."""
    seconds = {topic.name: topic.second for topic in given.topics if topic.second} | second
    judges = {topic.name: topic.assessors or (first.get(topic.name),) for topic in given.topics}
    names = {one.name for one in given.assessors}
    checked = {name for topic in seconds for name in judges[topic]} & names
    return len(checked) + len(names & set(seconds.values()))


def best_seconds(given: PlanProblem, first) -> tuple[int, int, int]:
    """Return the most topics with a new second assessor, then checks, then points."""
    judges = {
        topic.name: topic.assessors or (first[topic.name],)
        for topic in given.topics
        if (topic.assessors or topic.name in first) and not topic.second
    }
    most = max(0, given.overlap - sum(bool(topic.second) for topic in given.topics))
    before = hours_of(given, first, {})
    return max(
        (len(second), checks(given, first, second), points(given, second))
        for second in all_choices(list(judges), given)
        if len(second) <= most
        and all(given.bids.get(pair) != NO for pair in second.items())
        and all(name not in judges[topic] for topic, name in second.items())
        and fits(given, before, hours_of(given, first, second))
    )


@given(problems())
@settings(max_examples=150)
def test_a_plan_keeps_the_rules(given):
    plan = plan_assignments(given)
    open_topics = {topic.name for topic in given.topics if not topic.assessors}
    chosen = [*plan.first.items(), *plan.second.items()]

    assert all(given.bids.get(pair) != NO for pair in chosen)
    assert set(plan.first) | {one.topic for one in plan.unplanned} == open_topics
    assert not set(plan.first) & {one.topic for one in plan.unplanned}
    assert len(plan.unplanned) + len(plan.first) == len(open_topics)
    for topic in given.topics:
        judges = [*topic.assessors, plan.first.get(topic.name)]
        assert plan.second.get(topic.name, "nobody") not in judges
        assert not (topic.second and topic.name in plan.second)
        assert topic.second not in judges
    assert fits(given, hours_of(given, {}, {}), Counter(plan.hours))
    expected = hours_of(given, plan.first, plan.second)
    assert plan.hours == pytest.approx({one.name: expected[one.name] for one in given.assessors})


@given(problems())
@settings(max_examples=150)
def test_no_plan_is_better(given):
    plan = plan_assignments(given)
    open_hours = [topic.labels for topic in given.topics if not topic.assessors]
    missing = max(0, given.overlap - sum(bool(topic.second) for topic in given.topics))
    overlap_hours = missing * sum(topic.labels for topic in given.topics) / len(given.topics)
    part = sum(open_hours) / (sum(open_hours) + overlap_hours or 1)
    kept = best_firsts(given, part)
    wanted = kept if kept[0] == len(open_hours) else best_firsts(given, 1)

    assert plan.is_optimal
    assert (len(plan.first), points(given, plan.first)) == wanted
    assert best_seconds(given, plan.first) == (
        len(plan.second),
        checks(given, plan.first, plan.second),
        points(given, plan.second),
    )
    if given.overlap:
        found = 2 * len(given.assessors) - len(plan.unchecked) - len(plan.not_checking)
        assert found == checks(given, plan.first, plan.second)


@given(problems())
@settings(max_examples=100)
def test_no_plan_as_good_has_a_much_smaller_largest_load(given):
    topics = [topic._replace(assessors=(), second="") for topic in given.topics]
    people = [one._replace(hours=one.hours or 8.0) for one in given.assessors]
    given = replace(given, topics=topics, assessors=people, overlap=0)
    plan = plan_assignments(given)

    def largest(first) -> float:
        hours = hours_of(given, first, {})
        return max(hours[one.name] / one.hours for one in people)

    best = min(
        largest(first)
        for first in all_choices([topic.name for topic in topics], given)
        if (len(first), points(given, first)) == (len(plan.first), points(given, plan.first))
        and all(given.bids.get(pair) != NO for pair in first.items())
        and fits(given, Counter(), hours_of(given, first, {}))
    )
    assert largest(plan.first) <= best / (1 - assignment_plan.FAIRNESS_GAP) + 1e-6


@given(problems())
@settings(max_examples=60)
def test_missing_hours_are_the_fewest_that_help(given):
    plan = plan_assignments(replace(given, overlap=0))
    for topic, short_by in plan.unplanned:
        items = next(each.labels for each in given.topics if each.name == topic)
        lacks = [
            plan.hours[one.name] + items * one.seconds / HOUR - one.hours
            for each, one in given.firsts
            if each.name == topic
        ]
        assert short_by == (pytest.approx(min(lacks)) if lacks else None)


def test_the_work_is_spread_by_the_hours_offered():
    topics = {f"A.{number}": 1 for number in range(12)}
    plan = plan_assignments(problem(topics, {"ann": 18, "bo": 6, "cy": None}))

    # Who offers no number is compared with the mean of the others, 12 hours: all judge a third.
    assert Counter(plan.first.values()) == {"ann": 6, "bo": 2, "cy": 4}


def test_everyone_is_checked_and_checks_others():
    topics = {f"A.{number}": 1 for number in range(8)}
    people = dict.fromkeys(["ann", "bo", "cy", "di"], 4)
    plan = plan_assignments(problem(topics, people, overlap=4))

    assert Counter(plan.second.values()) == dict.fromkeys(people, 1)
    assert {plan.first[topic] for topic in plan.second} == set(people)
    assert plan.unchecked == plan.not_checking == []


def test_hours_are_kept_for_the_overlap():
    # Ann would gladly judge all, but then she could not check anybody, nor be checked by all.
    bids = ",".join(f"A.{number} ann gladly" for number in range(8))
    topics = {f"A.{number}": 1 for number in range(8)}
    plan = plan_assignments(problem(topics, {"ann": 8, "bo": 8}, bids, overlap=8))

    assert Counter(plan.first.values()) == {"ann": 4, "bo": 4}
    assert Counter(plan.second.values()) == {"ann": 4, "bo": 4}


def test_it_says_what_does_not_fit_and_why():
    given = problem({"A.1": 5, "A.2": 3, "A.3": 1}, {"ann": 6, "bo": 2}, "A.3 ann no,A.3 bo no")
    plan = plan_assignments(given)

    # Two topics cannot both fit: A.1 fits Ann only, then A.2 needs one more hour of Bo.
    [missing, declined] = sorted(plan.unplanned, key=lambda one: one.topic)
    assert missing.topic in {"A.1", "A.2"}
    assert declined == Unplanned("A.3", None)
    assert missing.short_by == {"A.1": 2, "A.2": 1}[missing.topic]
    assert given.first_hours == 9


def test_a_choice_by_hand_is_counted_too():
    given = problem({"A.1": 5, "A.2": 3}, {"ann": 4, "bo": 9}, overlap=1)
    plan = plan_of(given, {"A.1": "ann", "A.2": "gone"}, {"A.2": "ann"})

    assert plan.hours == {"ann": 8, "bo": 0}
    assert plan.unplanned == []
    assert (plan.missing_seconds, plan.unchecked, plan.not_checking) == (0, ["ann", "bo"], ["bo"])


def test_without_assessors_or_topics_nothing_is_planned():
    assert plan_assignments(problem({"A.1": 5}, {})).unplanned == [Unplanned("A.1", None)]
    assert plan_assignments(problem({}, {"ann": 3}, overlap=2)).first == {}


def large(hours: float) -> PlanProblem:
    """Return a hundred topics and ten assessors, with bids at random."""
    rng = random.Random(7)
    topics = [PlanTopic(f"A.{number}", rng.randint(300, 600)) for number in range(100)]
    people = [PlanAssessor(f"p{number}", rng.uniform(25, 60), hours) for number in range(10)]
    choices = [GLADLY, IF_NEEDED, NO, None]
    bids = {
        (topic.name, one.name): choice
        for topic in topics
        for one in people
        if (choice := rng.choice(choices))
    }
    return PlanProblem(topics, people, bids, overlap=20)


def test_a_large_lab_is_planned_the_same_way_each_time(monkeypatch):
    monkeypatch.setattr(assignment_plan, "SOLVING_SECONDS", 120.0)  # however busy the machine
    given = large(hours=90.0)
    plan = plan_assignments(given)

    assert plan == plan_assignments(given)
    assert plan.is_optimal
    assert (len(plan.first), len(plan.second), plan.unplanned) == (100, 20, [])
    assert plan.unchecked == plan.not_checking == []
    assert all(given.bids.get(pair) != NO for pair in [*plan.first.items(), *plan.second.items()])
    assert max(plan.hours.values()) <= 90


def test_the_best_plan_so_far_is_taken_when_the_time_is_up(monkeypatch):
    monkeypatch.setattr(assignment_plan, "SOLVING_SECONDS", 0.0)
    plan = plan_assignments(large(hours=90.0))

    assert not plan.is_optimal
    assert set(plan.first) | {one.topic for one in plan.unplanned} == {
        f"A.{number}" for number in range(100)
    }


def test_a_plan_that_cannot_have_all_topics_is_no_best_one_when_the_time_is_up(monkeypatch):
    monkeypatch.setattr(assignment_plan, "SOLVING_SECONDS", 0.0)
    given = large(hours=90.0)
    declined = {("A.0", person.name): NO for person in given.assessors}
    plan = plan_assignments(replace(given, bids={**given.bids, **declined}, overlap=0))

    assert not plan.is_optimal
    assert Unplanned("A.0", None) in plan.unplanned


def test_who_shares_a_topic_that_has_a_second_assessor_is_checked():
    topics = [PlanTopic("A.1", 1, ("ann", "bo"), "cy"), PlanTopic("A.2", 1, ("cy",))]
    people = [PlanAssessor(name, HOUR, None) for name in ("ann", "bo", "cy")]
    plan = plan_of(PlanProblem(topics, people, {}, overlap=1), {}, {})

    assert (plan.unchecked, plan.not_checking) == (["cy"], ["ann", "bo"])
