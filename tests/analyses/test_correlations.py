"""The correlation of the measures of a board: figures, file and roles. Laws are in tests/arqkit."""

from types import SimpleNamespace

import pytest
from django.urls import reverse
from scipy import stats

from arqlab.core.models import Task
from evaluation.models import RunScore
from evaluation.services.releasing import release_leaderboard
from evaluation.services.scoring import score_waiting
from tests.evaluation.factories import GOOD, NOW, POOR, make_qrels, make_run

NAMES = ("nDCG(judged_only=True)@1000", "AP(rel=2,judged_only=True)")
VALUES = {"one": (0.9, 0.5), "two": (0.7, 0.5), "three": (0.4, 0.6), "four": (0.2, 0.1)}


@pytest.fixture
def scored(scene):
    """Return the scene with four runs, whose two main measures are `VALUES`."""
    qrels = make_qrels(scene.task)
    for number, (tag, values) in enumerate(VALUES.items()):
        team = (scene.team, scene.other_team)[number % 2]
        run = make_run(team, scene.task, GOOD if number else POOR, tag=tag)
        score_waiting(at=NOW)
        for name, value in zip(NAMES, values, strict=True):
            RunScore.objects.filter(run=run, measure=name).update(value=value)
    return SimpleNamespace(**vars(scene), people=scene.people, qrels=qrels)


def url(scored, **query):
    args = [scored.lab.slug, scored.task.slug]
    return reverse("analyses:correlation-matrix", args=args, query=query)


def pairs(answer):
    head, *rows = [line.split("\t") for line in answer.content.decode().splitlines()]
    return {(row[0], row[1]): dict(zip(head, row, strict=True)) for row in rows}


def test_the_file_and_the_page_have_scipy_s_coefficients(scored, client_of):
    client = client_of(scored.organizer)
    found = pairs(client.get(url(scored, format="tsv")))["nDCG'", "MAP'"]
    first, second = zip(*VALUES.values(), strict=True)
    pearson, kendall = stats.pearsonr(first, second)[0], stats.kendalltau(first, second)[0]

    assert found["runs"] == "4"
    assert float(found["pearson"]) == pytest.approx(pearson, abs=1e-9)
    assert float(found["kendall"]) == pytest.approx(kendall, abs=1e-9)
    page = client.get(url(scored)).content.decode()
    assert f'<td class="num">{pearson:.3f}</td>' in page
    assert f'<td class="num">{kendall:.3f}</td>' in page


def test_runs_out_of_competition_and_judged_items_are_left_out(scored, client_of):
    scored.task.runs.filter(tag="one").update(out_of_competition="Late.")
    found = pairs(client_of(scored.organizer).get(url(scored, format="tsv")))

    assert {row["runs"] for row in found.values()} == {"3"}
    assert not any("judged@10" in pair for pair in found)


def test_measures_can_be_added(scored, client_of):
    found = pairs(client_of(scored.organizer).get(url(scored, format="tsv", also="R@5")))

    assert ("nDCG'", "R@5") in found


def test_only_organizers_see_correlations_before_the_release(scored, client_of):
    Task.objects.filter(pk=scored.task.pk).update(shows_own_scores=True)
    assert client_of(scored.member).get(url(scored)).status_code == 404
    assert client_of(scored.people["visitor"]).get(url(scored)).status_code == 404

    release_leaderboard(qrel_set=scored.qrels, by=None, at=NOW)
    page = client_of(scored.people["visitor"]).get(url(scored)).content.decode()
    assert "on the 4 runs that compete, baselines" in " ".join(page.split())
    board = reverse("evaluation:leaderboard", args=[scored.lab.slug, scored.task.slug])
    assert url(scored) in client_of(scored.people["visitor"]).get(board).content.decode()


def test_one_run_has_nothing_to_compare(scene, client_of):
    make_qrels(scene.task)
    make_run(scene.team, scene.task)
    score_waiting(at=NOW)

    page = client_of(scene.organizer).get(url(scene)).content.decode()
    assert "Nothing to compare yet" in page
