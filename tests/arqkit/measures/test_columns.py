"""Measures in columns, by hand-computed examples; test_scoring compares them with pytrec_eval."""

import math

import numpy as np
import pytest

from arqkit.measures.columns import JudgedRanking, column_values, ratio, sums
from arqkit.measures.names import parse_measure


def ranking(topics: list[int], labels: list[int], keys: list[int] | None = None) -> JudgedRanking:
    in_order = list(range(len(topics))) if keys is None else keys
    return JudgedRanking.of(
        *(np.array(values, dtype=np.int64) for values in (topics, labels, in_order))
    ).without_unjudged()


def ideal(topics: list[int], labels: list[int]) -> JudgedRanking:
    return ranking(topics, labels, [-label + 9 for label in labels])


def prime(text: str, run: JudgedRanking, best: JudgedRanking, topics: int = 1) -> list[float]:
    return column_values(parse_measure(text), run, best, topics).tolist()


def test_positions_count_the_judged_items_of_each_topic_from_one():
    found = ranking([1, 0, 1, 0], [3, 2, 1, 0], [40, 7, 2, 90])

    assert found.topic.tolist() == [0, 0, 1, 1]
    assert found.label.tolist() == [2, 0, 1, 3]
    assert found.position.tolist() == [1, 2, 1, 2]


def test_ndcg_discounts_the_label_by_the_logarithm_of_the_position():
    run, best = ranking([0, 0, 0], [1, 0, 3]), ideal([0, 0, 0, 0], [0, 3, 1, 2])

    best_gain = 3 / math.log2(2) + 2 / math.log2(3) + 1 / math.log2(4)

    assert prime("nDCG(judged_only=True)@1000", run, best) == [
        pytest.approx((1 + 3 / 2) / best_gain)
    ]


def test_ndcg_cuts_the_run_and_the_ideal_alike():
    run, best = ranking([0, 0], [1, 3]), ideal([0, 0], [1, 3])

    assert prime("nDCG(judged_only=True)@1", run, best) == [pytest.approx(1 / 3)]


def test_average_precision_divides_by_all_relevant_items_of_the_topic():
    run, best = ranking([0, 0, 0], [2, 0, 3]), ideal([0] * 5, [2, 0, 3, 2, 1])

    assert prime("AP(judged_only=True)", run, best) == [pytest.approx((1 / 1 + 2 / 3) / 3)]


def test_precision_divides_by_the_cut_off_even_of_a_short_list():
    run = ranking([0, 0, 0], [2, 0, 3])

    assert prime("P(judged_only=True)@10", run, run) == [0.2]


def test_topics_do_not_mix():
    run = ranking([0, 0, 2, 2], [0, 3, 3, 0])
    best = ideal([0, 0, 1, 2, 2], [0, 3, 3, 3, 0])

    assert prime("AP(judged_only=True)", run, best, 3) == [0.5, 0.0, 1.0]


def test_a_topic_without_any_relevant_item_has_zero():
    run = ranking([0], [0])

    assert [
        prime(text, run, run) for text in ("nDCG(judged_only=True)@1000", "AP(judged_only=True)")
    ] == [[0.0], [0.0]]


def test_sums_add_up_each_topic():
    assert sums(np.array([0, 2, 2]), np.array([1.0, 2.0, 3.0]), 4).tolist() == [1.0, 0.0, 5.0, 0.0]


def test_nothing_divided_by_nothing_is_zero():
    assert ratio(np.array([0.0, 1.0]), np.array([0.0, 2.0])).tolist() == [0.0, 0.5]
