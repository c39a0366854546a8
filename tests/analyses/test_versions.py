"""The effect of two versions of the qrels on the leaderboard."""

import re
from types import SimpleNamespace

import pytest
from django.urls import reverse
from scipy import stats

from analyses.services.qrels_effects import shared_measures, version_effect
from evaluation.models import RunScore
from evaluation.services.scoring import score_waiting
from tests.evaluation.factories import GOOD, NOW, make_qrels, make_run

BEFORE = {"one": 0.9, "two": 0.5, "three": 0.5, "four": 0.1}
AFTER = {"one": 0.6, "two": 0.7, "three": 0.4, "four": 0.2}


@pytest.fixture
def versions(scene):
    """Return the scene with four runs that have BEFORE and AFTER as scores by two versions."""
    sides = make_qrels(scene.task), make_qrels(scene.task, {"A.1": {"p1": 0, "p2": 3}})
    runs = {tag: make_run(scene.team, scene.task, GOOD, tag=tag) for tag in BEFORE}
    score_waiting(at=NOW)
    for qrels, values in zip(sides, (BEFORE, AFTER), strict=True):
        for tag, value in values.items():
            RunScore.objects.filter(run=runs[tag], qrel_set=qrels).update(value=value)
    known = {"before": sides[0], "after": sides[1], "runs": runs}
    return SimpleNamespace(**vars(scene), people=scene.people, **known)


def effect_of(found):
    measure = next(iter(shared_measures(found.before, found.after)))
    return version_effect(found.before, found.after, measure)


def url(scene, **query):
    return reverse("analyses:qrels-effect", args=[scene.lab.slug, scene.task.slug], query=query)


def test_scores_and_ranks_are_those_of_scipy(versions):
    effect = effect_of(versions)

    assert {row.tag: (row.before, row.after) for row in effect.rows} == {
        tag: (BEFORE[tag], AFTER[tag]) for tag in BEFORE
    }
    for side, values in (("before", BEFORE), ("after", AFTER)):
        ranks = stats.rankdata([-value for value in values.values()], method="min")
        expected = dict(zip(values, ranks, strict=True))
        assert {row.tag: getattr(row, f"rank_{side}") for row in effect.rows} == expected
    assert {row.tag: row.rise for row in effect.rows} == {
        "one": -1,
        "two": 1,
        "three": -1,
        "four": 0,
    }
    tau = stats.kendalltau(list(BEFORE.values()), list(AFTER.values())).statistic
    assert effect.ranking.tau == pytest.approx(tau)


def test_a_run_without_scores_by_one_version_is_left_out(versions):
    RunScore.objects.filter(run=versions.runs["two"], qrel_set=versions.before).delete()

    assert [row.tag for row in effect_of(versions).rows] == ["one", "three", "four"]


def test_the_page_compares_the_two_newest_versions(versions, client_of):
    html = " ".join(client_of(versions.organizer).get(url(versions)).content.decode().split())

    assert "3 of 4 runs change rank." in html
    assert re.search(r">two</a></th> <td>Alpha</td> <td class=\"num\">0.5000</td>", html)
    assert f"?before={versions.before.version}&amp;after={versions.after.version}" in html


def test_versions_can_be_chosen_and_must_differ(versions, client_of):
    client = client_of(versions.organizer)

    assert "Both versions are the same" in client.get(url(versions, before=2)).content.decode()
    for query in ({"before": 9}, {"measure": "no"}):
        assert client.get(url(versions, **query)).status_code == 404


@pytest.mark.parametrize("version", [False, True])
def test_without_scores_the_page_says_what_is_missing(version, scene, client_of):
    if version:
        make_qrels(scene.task)
        make_qrels(scene.task)
    html = client_of(scene.organizer).get(url(scene)).content.decode()

    assert ("No valid run has scores by both" if version else "No qrels yet") in html


def test_the_comparison_of_labels_leads_to_the_effect(versions, client_of):
    address = reverse("assessment:qrels-diff", args=[versions.lab.slug, versions.task.slug])
    client = client_of(versions.organizer)

    html = client.get(f"{address}?before=1&after=2").content.decode()
    assert f"{url(versions)}?before=1&amp;after=2" in html
    assert url(versions) not in client.get(f"{address}?before=1&after=draft").content.decode()
