"""The constraints of the database on scores and leaderboards."""

import pytest
from django.db import IntegrityError
from django.db.models import ProtectedError

from evaluation.models import Leaderboard, RunScore, Scoring, TopicScore
from evaluation.services.releasing import release_leaderboard
from tests.evaluation.factories import NOW, make_qrels, make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def scored(team, task):
    """Return the fields that identify scores: a run and qrels."""
    return {"run": make_run(team, task), "qrel_set": make_qrels(task)}


@pytest.mark.parametrize(
    ("model", "fields"),
    [
        (Scoring, {"measures": ["P@10"], "scored_at": NOW}),
        (RunScore, {"measure": "P@10", "value": 0.5}),
        (TopicScore, {"measure": "P@10", "value": 0.5, "query_id": "A.1"}),
    ],
)
def test_a_score_cannot_be_stored_twice(model, fields, scored):
    model.objects.create(**scored, **fields)
    with pytest.raises(IntegrityError):
        model.objects.create(**scored, **fields)


@pytest.mark.parametrize(
    ("asked", "order", "identity", "covers"),
    [
        (["P@10"], "score", "bm25", True),
        ([], "score", "bm25", True),
        (["P@10", "AP"], "score", "bm25", False),
        (["P@10"], "rank", "bm25", False),
        (["P@10"], "score", "tf-idf", False),
    ],
)
def test_a_scoring_covers_its_measures_while_order_and_identity_are_the_same(
    asked, order, identity, covers
):
    scoring = Scoring(measures=["P@10", "nDCG@10"], order="score", identity="bm25")

    assert scoring.covers(asked, order, identity) is covers


def test_a_score_is_shown_with_four_decimals(scored):
    assert str(RunScore(measure="AP", value=0.12345)) == "AP 0.1235"
    assert str(TopicScore(measure="AP", value=0.5, query_id="A.1")) == "A.1 AP 0.5000"
    assert str(Scoring(**scored)) == f"{scored['run']} against {scored['qrel_set']}"


def test_a_version_of_a_leaderboard_is_unique(scored, task):
    board = release_leaderboard(qrel_set=scored["qrel_set"], by=None, at=NOW)
    assert str(board) == f"{task} leaderboard 1"
    with pytest.raises(IntegrityError):
        Leaderboard.objects.create(
            task=task, version=1, qrel_set=scored["qrel_set"], released_at=NOW
        )


def test_the_qrels_of_a_released_leaderboard_cannot_be_deleted(scored):
    release_leaderboard(qrel_set=scored["qrel_set"], by=None, at=NOW)
    with pytest.raises(ProtectedError):
        scored["qrel_set"].delete()
