"""The spread of the scores of runs, and who sees it on the leaderboard."""

import json
import re
from statistics import quantiles
from types import SimpleNamespace

import pytest
from django.urls import reverse

from arqlab.core.models import Task
from evaluation.models import RunScore, TopicScore
from evaluation.permissions import score_access_of, visible_board
from evaluation.selectors.spreads import run_spreads
from evaluation.services.releasing import release_leaderboard
from evaluation.services.scoring import score_waiting
from tests.evaluation.factories import GOOD, NOW, POOR, make_qrels, make_run

MAIN = "nDCG(judged_only=True)@1000"
VALUES = [0.25, 0.9, 0.5, 0.75, 0.1]


@pytest.fixture
def spread(scene):
    """Return the scene with a run of each team; the first has VALUES by topic."""
    qrels = make_qrels(scene.task, {f"A.{number}": {"p1": 3} for number in range(1, 6)})
    run = make_run(scene.team, scene.task, GOOD, tag="alpha-run")
    make_run(scene.other_team, scene.task, POOR, tag="beta-run")
    score_waiting(at=NOW)
    for number, value in enumerate(VALUES, start=1):
        found = TopicScore.objects.filter(run=run, query_id=f"A.{number}", measure=MAIN)
        found.update(value=value)
    return SimpleNamespace(**vars(scene), people=scene.people, qrels=qrels, run=run)


def spreads_of(scene):
    shown = visible_board(score_access_of(scene.organizer, scene.task))
    measure = shown.board.measures[0]
    return run_spreads(shown.board, qrel_set=shown.qrel_set, measure=measure)


def test_a_spread_has_the_quartiles_of_the_topics(spread):
    [first, second] = spreads_of(spread)

    assert first.topics == 5
    quartiles = quantiles(VALUES, n=4, method="inclusive")
    assert first[3:] == pytest.approx([min(VALUES), *quartiles, max(VALUES)])
    assert second[3:] == (0, 0, 0, 0, 0)


def test_the_best_mean_comes_first_and_only_so_many_runs_have_a_spread(spread, monkeypatch):
    monkeypatch.setattr("evaluation.selectors.spreads.MOST_RUNS", 1)

    assert [one.run.tag for one in spreads_of(spread)] == ["alpha-run"]
    RunScore.objects.filter(run__tag="beta-run").update(value=1)
    assert [one.run.tag for one in spreads_of(spread)] == ["beta-run"]


def test_runs_without_scores_by_topic_have_no_spread(spread, client_of):
    TopicScore.objects.filter(run=spread.run).delete()
    RunScore.objects.update(value=0.25)  # what is cached is not read
    assert [one.run.tag for one in spreads_of(spread)] == ["beta-run"]

    RunScore.objects.update(value=0.5)
    TopicScore.objects.all().delete()
    assert spreads_of(spread) == []
    assert "no scores by topic" in client_of(spread.organizer).get(url(spread)).content.decode()


def url(scene, **query):
    return reverse("evaluation:leaderboard", args=[scene.lab.slug, scene.task.slug], query=query)


def charted(html: str) -> dict[str, str]:
    """Return the runs of the chart with their marks."""
    found = re.search(r'<script id="spread-data" type="application/json">(.*?)</script>', html)
    return {row[1]: row[3] for row in json.loads(found[1])["runs"]} if found else {}


@pytest.mark.parametrize(
    ("role", "own", "all_"),
    [
        ("visitor", [], ["alpha-run", "beta-run"]),
        ("member", [], ["alpha-run", "beta-run"]),
        ("organizer", ["alpha-run", "beta-run"], ["alpha-run", "beta-run"]),
    ],
)
def test_each_role_sees_the_spread_of_the_runs_on_its_board(role, own, all_, spread, client_of):
    Task.objects.filter(pk=spread.task.pk).update(shows_own_scores=True)
    client = client_of(spread.people[role])
    assert sorted(charted(client.get(url(spread)).content.decode())) == own

    release_leaderboard(qrel_set=spread.qrels, by=None, at=NOW)
    found = charted(client.get(url(spread)).content.decode())
    assert sorted(found) == all_
    assert found["alpha-run"] == ("own" if role == "member" else "")


def test_the_measure_of_the_chart_can_be_chosen(spread, client_of):
    client = client_of(spread.organizer)

    html = client.get(url(spread, chart="MAP'", sort="run")).content.decode()
    assert '<option value="MAP\'" selected>' in html.replace("&#x27;", "'")
    assert '<input type="hidden" name="sort" value="run">' in html
    fallback = client.get(url(spread, chart="no")).content.decode()
    assert '<option value="nDCG\'" selected>' in fallback.replace("&#x27;", "'")
