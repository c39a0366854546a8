"""The scores of a run by topic."""

import pytest

from evaluation.selectors.boards import live_board, topic_rows
from evaluation.services.scoring import score_waiting
from tests.evaluation.factories import GOOD, NOW, POOR, make_qrels, make_run

P10 = "P(rel=2,judged_only=True)@10"


def rows_of(run, qrel_set):
    return topic_rows(live_board(qrel_set), run=run.pk, qrel_set=qrel_set, measure=P10)


def test_a_row_has_the_runs_score_and_the_median_and_best_of_all_runs(team, task):
    qrel_set = make_qrels(task)
    _, poor = make_run(team, task, GOOD), make_run(team, task, POOR)
    score_waiting(at=NOW)

    first, second = rows_of(poor, qrel_set)
    assert (first.own, first.median, first.best) == pytest.approx((0.1, 0.15, 0.2))
    assert second.gain == pytest.approx(-0.05)


def test_a_row_counts_the_judged_and_the_relevant_items(team, task):
    qrel_set = make_qrels(task)
    run = make_run(team, task)
    score_waiting(at=NOW)

    rows = rows_of(run, qrel_set)
    assert [tuple(row.judgments) for row in rows] == [(4, 2), (2, 1)]  # 5 and 6 are no judgments


def test_a_topic_without_score_has_none(team, task):
    qrel_set = make_qrels(task)
    run = make_run(team, task)

    assert [row.own for row in rows_of(run, qrel_set)] == [None, None]


def test_the_rows_need_three_queries(team, task, django_assert_num_queries):
    qrel_set = make_qrels(task)
    runs = [make_run(team, task) for _ in range(4)]
    score_waiting(at=NOW)

    board = live_board(qrel_set)
    with django_assert_num_queries(3):
        topic_rows(board, run=runs[0].pk, qrel_set=qrel_set, measure=P10)
    with django_assert_num_queries(2):
        topic_rows(board, run=runs[1].pk, qrel_set=qrel_set, measure=P10)
