"""Scores by groups of topics, against scipy and by hand."""

import numpy as np
import pytest
from scipy import stats

from arqkit.comparison.correlation import group_pairs, mean_gap, topic_group, topic_groups

TOPICS = ["B.1", "B.2", "B.3", "B.4", "B.5"]
VALUES = {"B.1": "high", "B.2": "low", "B.3": "low", "B.4": "unusual", "B.5": ""}
ORDER = ["low", "medium", "high"]
SCORES = np.array([[0.5, 0.25, 0.75, 1.0, 0.0], [0.25, np.nan, 0.5, 0.5, 0.0], [0.0] * 5])


def groups():
    return topic_groups(SCORES, TOPICS, VALUES, ORDER)


def test_groups_have_the_usual_order_and_leave_out_topics_without_a_value():
    assert [(one.name, one.topics) for one in groups()] == [("low", 2), ("high", 1), ("unusual", 1)]


def test_a_mean_is_over_the_topics_of_the_group_that_have_a_score():
    low, high, unusual = (one.means.tolist() for one in groups())
    assert (low, high, unusual) == ([0.5, 0.5, 0.0], [0.5, 0.25, 0.0], [1.0, 0.5, 0.0])


def test_a_run_without_a_score_in_a_group_has_no_mean_and_no_rank():
    missing = SCORES.copy()
    missing[2, 0] = np.nan
    low, high, _ = topic_groups(missing, TOPICS, VALUES, ORDER)
    assert np.isnan(high.means).tolist() == [False, False, True]
    assert group_pairs([low, high])[0] == ("low", "high", 2, None, 0)  # Both have 0.5 for low.


def test_the_mean_gap_is_that_of_neighbours():
    means = np.array([0.3, 0.9, 0.4, 0.4, 0.1])
    assert mean_gap(means) == pytest.approx(np.diff(np.sort(means)).mean(), abs=1e-12)
    assert mean_gap(means[:1]) is None
    assert [one.gap for one in groups()] == [0.25, 0.25, 0.5]


@pytest.mark.parametrize("decimals", [1, 12])
def test_tau_is_scipys_on_random_and_tied_means(decimals):
    drawn = np.random.default_rng(7).random((12, 9)).round(decimals)
    names = [f"T.{number}" for number in range(9)]
    found = topic_groups(drawn, names, dict(zip(names, "abcabcabc", strict=True)), ())
    for pair in group_pairs(found):
        means = [drawn[:, [2 - "cba".index(name) + 3 * k for k in range(3)]] for name in pair[:2]]
        rounded = [one.mean(axis=1).round(12) for one in means]
        assert pair.tau == pytest.approx(stats.kendalltau(*rounded).statistic, abs=1e-9)
        assert pair.runs == 12


def test_groups_without_common_runs_have_no_tau():
    first, second = (topic_group(str(row), SCORES[:1] if row else SCORES[:0]) for row in (0, 1))
    assert group_pairs([first, second]) == [("0", "1", 0, None, 0)]


def test_no_topics_are_no_groups():
    assert topic_groups(np.zeros((2, 0)), [], {}, ORDER) == []
    assert np.isnan(topic_group("all", np.zeros((2, 0))).means).all()
