"""Ids that were met before."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from arqkit.formats.formulas.seen_ids import SeenIds

numbers = st.lists(st.integers(0, 40) | st.just(10**18), max_size=30)


@given(numbers)
def test_a_number_is_new_once(given_numbers):
    seen = SeenIds()

    new = [number for number in given_numbers if seen.add(number)]

    assert sorted(new) == sorted(set(given_numbers))


@given(st.lists(st.lists(st.integers(0, 60), max_size=20), max_size=5))
def test_many_at_once_are_new_as_one_by_one(batches):
    one_by_one, at_once = SeenIds(), SeenIds()

    for batch in batches:
        expected = [one_by_one.add(number) for number in batch]
        assert at_once.add_all(np.array(batch, np.int64)).tolist() == expected


def test_a_huge_number_among_many_takes_no_memory():
    seen = SeenIds()

    assert seen.add_all(np.array([5, 10**17, 5, 10**17], np.int64)).tolist() == [
        True,
        True,
        False,
        False,
    ]
    assert len(seen._bits) < 100


@given(numbers, st.integers(0, 50))
def test_what_was_added_is_in(given_numbers, number):
    seen = SeenIds()
    for each in given_numbers:
        seen.add(each)

    assert (number in seen) == (number in given_numbers)
    assert (10**18 in seen) == (10**18 in given_numbers)
