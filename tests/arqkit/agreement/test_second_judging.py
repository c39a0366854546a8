"""Plans of second judging check everyone by others, evenly, and nobody by themselves."""

from collections import Counter
from itertools import combinations
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arqkit.agreement.second_judging import SecondItem, draw_items, draw_own, plan_second, with_own

PEOPLE = (1, 2, 3, 4)


def items_of(*judges: set[int], topic: str = "A.1") -> list[SecondItem]:
    return [SecondItem(key, topic, frozenset(each)) for key, each in enumerate(judges)]


def lists() -> st.SearchStrategy[list[SecondItem]]:
    judges = st.sets(st.sampled_from(PEOPLE), max_size=2)
    topics = st.sampled_from(["A.1", "A.2", "A.3", "A.4"])
    rows = st.lists(st.tuples(topics, judges), max_size=25)
    return rows.map(
        lambda found: [
            SecondItem(key, topic, frozenset(each)) for key, (topic, each) in enumerate(found)
        ]
    )


@given(lists(), st.booleans(), st.integers(0, 5))
def test_every_item_goes_to_one_person_who_has_not_judged_it(items, by_topic, seed):
    plan = plan_second(items, PEOPLE, by_topic=by_topic, seed=seed)

    given_items = [item for mine in plan.items.values() for item in mine]
    assert Counter([*given_items, *plan.unassigned]) == Counter(items)
    assert all(person not in item.judges for person, mine in plan.items.items() for item in mine)


@given(lists(), st.booleans(), st.integers(0, 100), st.integers(0, 5))
def test_own_items_come_on_top_of_those_of_others(items, by_topic, percent, seed):
    plan = plan_second(items, PEOPLE, by_topic=by_topic, seed=seed)
    own = draw_own(items, PEOPLE, share=percent / 100, seed=seed)
    mixed = with_own(plan, own, items)

    for person in PEOPLE:
        alone = [item for item in items if item.judges == {person}]
        assert len(own[person]) == -(-percent * len(alone) // 100)
        assert all(item in alone for item in own[person])
        added = Counter(mixed.items[person]) - Counter(plan.items[person])
        assert added == Counter(own[person])
        assert sorted(mixed.items[person], key=items.index) == list(mixed.items[person])
    assert mixed.unassigned == plan.unassigned


def fewest(items: list[SecondItem]) -> int:
    """Return the smallest possible maximum of items of one person, by Hall's theorem."""
    bounds = [0]
    for size in range(1, len(PEOPLE) + 1):
        for group in combinations(PEOPLE, size):
            bound = sum(set(PEOPLE) - item.judges <= set(group) for item in items)
            bounds.append(ceil(bound / size))
    return max(bounds)


@given(lists(), st.integers(0, 5))
def test_nobody_judges_more_items_than_they_must(items, seed):
    plan = plan_second(items, PEOPLE, by_topic=False, seed=seed)

    assert max(map(len, plan.items.values())) == fewest(items)


@given(lists(), st.integers(0, 5))
def test_a_topic_is_judged_as_a_whole_by_one_person(items, seed):
    plan = plan_second(items, PEOPLE, by_topic=True, seed=seed)

    owners = {(item.topic, person) for person, mine in plan.items.items() for item in mine}
    owners |= {(item.topic, None) for item in plan.unassigned}
    assert len(owners) == len({item.topic for item in items})


def test_topics_are_shared_evenly_by_their_items():
    sizes = {"A.1": 6, "A.2": 4, "A.3": 3, "A.4": 3}
    names = [topic for topic, size in sizes.items() for _ in range(size)]
    items = [SecondItem(key, topic, frozenset({9})) for key, topic in enumerate(names)]

    plan = plan_second(items, (1, 2), by_topic=True, seed=0)
    assert sorted(map(len, plan.items.values())) == [7, 9]


def test_the_items_of_an_assessor_are_spread_over_the_others():
    items = items_of(*[{1}] * 6, *[{2}] * 6, *[{3}] * 6, *[{4}] * 6)

    pairs = plan_second(items, PEOPLE, by_topic=False, seed=3).pairs()
    assert set(pairs) == {(a, b) for a in PEOPLE for b in PEOPLE if a != b}


def test_items_that_everybody_judged_stay_unassigned():
    items = items_of({1, 2}, {1})

    plan = plan_second(items, (1, 2), by_topic=False, seed=0)
    assert plan.unassigned == (items[0],)
    assert plan.items == {1: (), 2: (items[1],)}


@pytest.mark.parametrize("share", [0.1, 0.34, 1.0])
def test_the_same_share_is_drawn_of_the_items_of_each_assessor(share):
    items = items_of(*[{1}] * 30, *[{2}] * 7, *[{1, 2}], *[set()] * 10)

    drawn = draw_items(items, share=share, seed=1)
    counts = Counter(item.judges for item in drawn)
    sizes = Counter(item.judges for item in items)
    assert counts == {judges: ceil(size * share - 1e-9) for judges, size in sizes.items()}
    assert drawn == [item for item in items if item in drawn]


def test_the_same_seed_draws_and_plans_the_same():
    items = items_of(*[{1}] * 30, *[{2}] * 30)
    drawn = draw_items(items, share=0.2, seed=5)

    assert drawn == draw_items(items, share=0.2, seed=5) != draw_items(items, share=0.2, seed=6)
    first, again = (plan_second(drawn, PEOPLE, by_topic=False, seed=5) for _ in range(2))
    assert first == again


def test_a_topic_goes_to_the_wanted_person_who_has_not_judged_it():
    items = [SecondItem(key, f"A.{key}", frozenset({1})) for key in range(6)]
    wanted = {"A.1": 2, "A.3": 2, "A.4": 2, "A.5": 1, "A.0": 9}

    plan = plan_second(items, (1, 2, 3), by_topic=True, seed=1, preferred=wanted)
    mine = {person: {item.topic for item in mine} for person, mine in plan.items.items()}
    assert mine[2] >= {"A.1", "A.3", "A.4"}
    assert {len(mine[2]), len(mine[3])} == {3}
    assert not mine[1]
