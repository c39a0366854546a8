"""Estimates of the remaining work and its completion."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arqkit.judgments.completion import (
    Pace,
    estimated_completions,
    expected_per_day,
    expected_seconds,
)

AT = datetime(2026, 11, 21, 12, tzinfo=UTC)


def days(moments):
    return [moment and (moment - AT) / timedelta(days=1) for moment in moments]


def test_an_empty_pace_has_no_mean():
    assert Pace().each is None
    assert Pace(4, 100.0).plus(Pace(1, 50.0)).each == 30.0


@pytest.mark.parametrize(
    ("paces", "expected"),
    [
        ([Pace(10, 200.0), Pace(50, 5_000.0)], 20.0),
        ([Pace(9, 9.0), Pace(50, 5_000.0)], 100.0),  # nine labels are too few to tell
        ([Pace(9, 9.0)], 44.1),
    ],
)
def test_the_first_pace_with_enough_labels_is_expected(paces, expected):
    assert expected_seconds(paces, usual=44.1) == expected


def test_parts_are_completed_one_after_the_other():
    # 70 in the last seven days: ten a day.
    found = estimated_completions([20, 0, 10], recent=70, since=AT - timedelta(days=30), at=AT)

    assert days(found) == [2.0, None, 3.0]


def test_an_assessor_who_started_today_counts_as_one_day():
    assert days(estimated_completions([100], recent=50, since=AT - timedelta(hours=2), at=AT)) == [
        2.0
    ]


def test_without_recent_judgments_there_is_no_estimate():
    assert estimated_completions([5, 5], recent=0, since=AT - timedelta(days=30), at=AT) == [
        None,
        None,
    ]
    assert estimated_completions([5], recent=0, since=None, at=AT) == [None]


@given(st.lists(st.integers(1, 1000), min_size=1), st.integers(1, 1000), st.integers(0, 100))
def test_more_recent_judgments_never_delay_completion(lefts, lately, begun):
    since = AT - timedelta(days=begun)
    slow, fast = (
        estimated_completions(lefts, recent=count, since=since, at=AT)
        for count in (lately, lately + 1)
    )

    assert all(quick <= late for quick, late in zip(fast, slow, strict=True))
    assert slow == sorted(slow)


def test_items_are_expected_at_an_even_rate_until_the_estimated_completion():
    # From noon on the 21st: 30 items in 36 hours, 20 in a whole day; and 4 in the next 12 hours.
    parts = [(30, AT + timedelta(hours=36)), (4, AT + timedelta(hours=12))]

    assert expected_per_day(parts, at=AT, until=date(2026, 11, 23)) == {
        date(2026, 11, 21): 14.0,
        date(2026, 11, 22): 20.0,
        date(2026, 11, 23): 0.0,
    }


def test_without_estimated_completions_nothing_is_expected():
    assert expected_per_day([], at=AT, until=date(2026, 11, 30)) == {}


@given(st.lists(st.tuples(st.integers(1, 1000), st.floats(0.01, 60)), min_size=1))
def test_all_items_are_expected_until_the_last_completion(parts):
    ends = [(items, AT + timedelta(days=span)) for items, span in parts]
    last = max(end for _, end in ends).date()

    found = expected_per_day(ends, at=AT, until=last)

    assert sum(found.values()) == pytest.approx(sum(items for items, _ in parts))
