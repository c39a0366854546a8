"""Plans of second judging: which items are judged again, and by whom.

Assessors check each other: the same share of each assessor's items is drawn. Nobody gets an item
that they have judged, and the items are spread as evenly as possible.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from random import Random
from types import MappingProxyType
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)
Judges = frozenset[int]


@dataclass(frozen=True, slots=True)
class SecondItem:
    """An officially judged item and everyone who judged it; nobody if the labels are imported."""

    key: int
    topic: str
    judges: Judges


@dataclass(frozen=True, slots=True)
class RejudgingPlan:
    """Who judges which items again.

    - items: the items of each person, in the order of the drawn items.
    - unassigned: items that all persons judged.
    """

    items: Mapping[int, tuple[SecondItem, ...]]
    unassigned: tuple[SecondItem, ...]

    def pairs(self) -> Counter[tuple[int, int]]:
        """Return how many of each first assessor's items each second assessor judges."""
        return Counter(
            (first, second)
            for second, items in self.items.items()
            for item in items
            for first in item.judges
        )


def draw_items(items: Sequence[SecondItem], *, share: float, seed: int) -> list[SecondItem]:
    """Return a random share of the items of each assessor, rounded up, in their order.

    Items with the same assessors are drawn from together.
    """
    random, drawn = Random(seed), set()  # noqa: S311  # a sample, no secret
    groups = _grouped(items, lambda item: item.judges)
    for judges in sorted(groups, key=sorted):
        group = groups[judges]
        # 10% of 30 is 3, whatever the floats say.
        drawn.update(random.sample(group, ceil(round(share * len(group), 9))))
    return [item for item in items if item in drawn]


def draw_own(
    items: Sequence[SecondItem], people: Collection[int], *, share: float, seed: int
) -> dict[int, list[SecondItem]]:
    """Return a random share, rounded up, of the items that only one of the people judged.

    They judge these again themselves, which shows how consistent they are.
    """
    random = Random(seed)  # noqa: S311  # a sample, no secret
    items_by_person = {
        person: [item for item in items if item.judges == {person}] for person in sorted(people)
    }
    return {
        person: random.sample(group, ceil(round(share * len(group), 9)))
        for person, group in items_by_person.items()
    }


def with_own(
    plan: RejudgingPlan, repeated: Mapping[int, Sequence[SecondItem]], items: Sequence[SecondItem]
) -> RejudgingPlan:
    """Return a plan with items that people judge twice among the others, ordered as `items`."""
    place = {item: at for at, item in enumerate(items)}
    mixed = {
        person: tuple(sorted([*mine, *repeated.get(person, ())], key=place.__getitem__))
        for person, mine in plan.items.items()
    }
    return RejudgingPlan(mixed, plan.unassigned)


def plan_second(
    items: Sequence[SecondItem],
    people: Collection[int],
    *,
    by_topic: bool,
    seed: int,
    preferred: Mapping[str, int] = MappingProxyType({}),
) -> RejudgingPlan:
    """Return who judges items again: each topic as a whole (`by_topic`), or each item.

    The items of one assessor are spread over the others. A whole topic goes to the person named in
    `preferred`, unless that person is not among `people` or has judged some of it.
    """
    random = Random(seed)  # noqa: S311  # a sample, no secret
    groups = _grouped(items, lambda item: item.topic if by_topic else item.key)
    units = [
        _Unit(tuple(group), frozenset(judge for item in group for judge in item.judges))
        for group in groups.values()
    ]
    random.shuffle(units)
    owned = Counter(unit.judges for unit in units)
    # Large topics first, then the items of those who judged most: fewest people can take them.
    units.sort(key=lambda unit: (-len(unit.items), -owned[unit.judges]))
    if by_topic:
        # Wanted people first, so that the other topics even out what everyone has.
        units.sort(
            key=lambda unit: preferred.get(unit.items[0].topic) not in {*people} - unit.judges
        )
    units_by_person = _held(units, sorted(people), random, preferred if by_topic else {})
    if not by_topic:
        _even_out(units_by_person)
    place = {item: at for at, item in enumerate(items)}
    items_by_person = {
        person: tuple(sorted((item for unit in mine for item in unit.items), key=place.__getitem__))
        for person, mine in units_by_person.items()
    }
    assigned = {item for mine in items_by_person.values() for item in mine}
    return RejudgingPlan(items_by_person, tuple(item for item in items if item not in assigned))


@dataclass(frozen=True, slots=True)
class _Unit:
    """Items that one person judges together, and everyone who judged one of them."""

    items: tuple[SecondItem, ...]
    judges: Judges


def _grouped(
    items: Sequence[SecondItem], by: Callable[[SecondItem], Key]
) -> dict[Key, list[SecondItem]]:
    groups = defaultdict(list)
    for item in items:
        groups[by(item)].append(item)
    return groups


def _held(
    units: Sequence[_Unit], people: Sequence[int], random: Random, preferred: Mapping[str, int]
) -> dict[int, list[_Unit]]:
    """Return the units of each person.

    A unit goes to the person with the fewest items among those who may judge it. Ties go to the
    person with the fewest items of the same assessors.
    """
    units_by_person: dict[int, list[_Unit]] = {person: [] for person in people}
    loads, pairs = Counter[int](), Counter[tuple[Judges, int]]()
    for unit in units:
        free = [person for person in people if person not in unit.judges]
        random.shuffle(free)
        if not free:
            continue
        taker = preferred.get(unit.items[0].topic)
        if taker not in free:
            taker = min(free, key=lambda person: (loads[person], pairs[unit.judges, person]))
        units_by_person[taker].append(unit)
        loads[taker] += len(unit.items)
        pairs[unit.judges, taker] += 1
    return units_by_person


def _even_out(units_by_person: dict[int, list[_Unit]]) -> None:
    """Pass items from people with many to people with fewer, through others if need be.

    When no chain evens the loads any more, they are as even as they can be (Harvey et al.,
    Semi-matchings for bipartite graphs and load balancing, 2006).
    """
    while chain := _chain(units_by_person):
        for giver, taker in pairwise(chain):
            unit = next(
                unit for unit in reversed(units_by_person[giver]) if taker not in unit.judges
            )
            units_by_person[giver].remove(unit)
            units_by_person[taker].append(unit)


def _chain(units_by_person: Mapping[int, Sequence[_Unit]]) -> list[int]:
    """Return people, each with a unit for the next, the last with two fewer; or an empty list."""
    judges = {person: {unit.judges for unit in units} for person, units in units_by_person.items()}
    for first in sorted(units_by_person, key=lambda person: -len(units_by_person[person])):
        came, waiting = {first: first}, deque([first])
        while waiting:
            giver = waiting.popleft()
            if len(units_by_person[giver]) <= len(units_by_person[first]) - 2:
                way = [giver]
                while came[way[-1]] != way[-1]:
                    way.append(came[way[-1]])
                return way[::-1]
            for taker in units_by_person.keys() - came.keys():
                if any(taker not in unit_judges for unit_judges in judges[giver]):
                    came[taker] = giver
                    waiting.append(taker)
    return []
