"""Live boards: the current scores."""

import pytest

from evaluation.selectors.boards import live_board
from evaluation.services.scoring import score_waiting
from tests.evaluation.factories import GOOD, NOW, POOR, make_qrels, make_run


@pytest.fixture
def qrel_set(task):
    return make_qrels(task)


def test_a_live_board_has_the_scored_valid_runs(qrel_set, team, other_team, task):
    (
        make_run(team, task, POOR, tag="poor"),
        make_run(other_team, task, GOOD, tag="good", is_primary=True),
    )
    make_run(team, task, tag="refused", status="invalid")
    score_waiting(at=NOW)

    board = live_board(qrel_set)
    assert [row.run.tag for row in board.rows] == ["good", "poor"]
    assert board.topics == 2
    assert board.rows[0].run.is_primary


def test_the_ceilings_are_those_of_the_qrels(qrel_set):
    board = live_board(qrel_set)

    assert board.ceilings["P(rel=2,judged_only=True)@10"] == pytest.approx((0.2 + 0.1) / 2)


def test_the_number_of_queries_of_a_live_board_does_not_grow_with_its_runs(
    qrel_set, team, task, django_assert_max_num_queries
):
    for number in range(6):
        make_run(team, task, tag=f"run{number}")
    score_waiting(at=NOW)

    with django_assert_max_num_queries(3):  # the scores, the runs, and once the qrels
        assert len(live_board(qrel_set).rows) == 6
