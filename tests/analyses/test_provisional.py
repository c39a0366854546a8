"""The provisional leaderboard: scores by the current labels, as pytrec_eval computes them."""

from statistics import fmean

import pytest
import pytrec_eval
from django.urls import reverse

from analyses.services.provisional import provisional_scores
from assessment.models import PoolInstance
from evaluation.models import RunScore
from tests.assessment.factories import judge, make_pool
from tests.evaluation.factories import make_run

POOL = {"A.1": ["10", "11", "12"], "A.2": ["20", "21", "22"]}
LABELS = {"A.1": {"10": 3, "11": 0, "12": 2}, "A.2": {"20": 2, "21": 3}}  # item 22 is waiting
RUNS = {
    "alpha": {"A.1": ["11", "10", "12"], "A.2": ["21", "20"]},
    "beta": {"A.1": ["10", "12"], "A.2": ["20", "22", "21"]},
}


@pytest.fixture
def judging(scene):
    make_pool(scene.task, POOL)
    for tag, lists in RUNS.items():
        make_run(scene.team, scene.task, lists, tag=tag)
    for topic, labels in LABELS.items():
        for item, label in labels.items():
            found = PoolInstance.objects.get(item__topic__query_id=topic, doc_id=item)
            judge(scene.assessor, found, label)
    return scene


def url(scene, **query):
    address = [scene.lab.slug, scene.task.slug]
    return reverse("analyses:provisional-board", args=address, query=query)


def test_the_scores_are_those_of_the_labels_so_far(judging):
    assert provisional_scores(judging.task, computes=False).is_computed is False
    board = provisional_scores(judging.task, computes=True)

    for row in board.rows:
        lists = RUNS[row.run.split()[-1]]
        judged = {
            topic: {
                item: -float(place) for place, item in enumerate(items) if item in LABELS[topic]
            }
            for topic, items in lists.items()
        }
        scored = pytrec_eval.RelevanceEvaluator(LABELS, {"ndcg"}).evaluate(judged)
        assert row.mean == pytest.approx(fmean(one["ndcg"] for one in scored.values()))
    assert [row.mean for row in board.rows] == sorted(
        (row.mean for row in board.rows), reverse=True
    )
    assert (board.finished, len(board.topics)) == (1, 2)
    assert board.same == 1  # There are fewer than five runs.
    assert not RunScore.objects.exists()


def test_a_label_makes_the_scores_old(judging):
    provisional_scores(judging.task, computes=True)
    assert provisional_scores(judging.task, computes=False).is_computed

    waiting = PoolInstance.objects.get(doc_id="22")
    judge(judging.assessor, waiting, 3)
    assert not provisional_scores(judging.task, computes=False).is_computed


def test_the_page_computes_on_demand(judging, client_of):
    client = client_of(judging.organizer)

    html = client.get(url(judging)).content.decode()
    assert "1 of 2 topics is fully judged." in html
    assert "Compute scores" in html
    html = " ".join(client.get(url(judging, compute="yes")).content.decode().split())
    assert "The top 5 stay the same with a probability of <strong>1.00</strong>" in html
    for role in ("visitor", "member", "assessor"):
        address = url(judging, compute="yes")
        assert client_of(judging.people[role]).get(address).status_code == 404


def test_without_a_pool_or_runs_the_page_says_what_is_missing(scene, client_of):
    client = client_of(scene.organizer)
    assert "No pool yet" in client.get(url(scene)).content.decode()

    make_pool(scene.task, POOL)
    html = client.get(url(scene, compute="yes")).content.decode()
    assert "No valid run can be scored by the labels so far." in html
