"""Organizers see copies of runs of different teams, and runs that replay the qrels, with topics."""

import pytest
from django.urls import reverse

from analyses.services.look_alikes import look_alikes, replays
from tests.evaluation.factories import NOW, made_by_job, make_qrels, make_run

TOPICS = [f"A.{number}" for number in range(1, 5)]
LABELS = {topic: {f"p{n}": 2 * (n < 6) for n in range(12)} for topic in TOPICS}
GOOD = {topic: [f"p{n}" for n in (7, 1, 8, 2, 9, 3, 10, 4)] for topic in TOPICS}
COPIED = {topic: [*items[:7], "other"] for topic, items in GOOD.items()}
OTHER = {topic: items[::-1] for topic, items in GOOD.items()}
RELEVANT = {topic: ["x", *[f"p{n}" for n in (5, 4, 3, 0, 1, 2)]] for topic in TOPICS}


@pytest.fixture
def runs(scene):
    first = make_run(scene.team, scene.task, GOOD, tag="original")
    copy = make_run(scene.other_team, scene.task, COPIED, tag="copy")
    make_run(scene.team, scene.task, GOOD, tag="variant")
    make_run(scene.other_team, scene.task, OTHER, tag="different")
    return first, copy


def pairs_of(task):
    return [
        (pair.first.tag, pair.second.tag, len(pair.likeness.copied))
        for pair in look_alikes(task, computes=True)
    ]


def test_copies_by_different_teams_look_alike(scene, runs):
    assert pairs_of(scene.task) == [("original", "copy", 4), ("copy", "variant", 4)]


def test_withdrawn_runs_are_left_out_and_an_unreadable_one_looks_like_none(scene, runs):
    first, copy = runs
    first.withdrawn_at = NOW
    first.save()
    copy.index.storage.delete(copy.index.name)
    assert pairs_of(scene.task) == []


def test_a_run_of_the_relevant_items_may_replay_the_qrels(scene, runs):
    assert replays(scene.task) == []  # no qrels yet
    make_qrels(scene.task, LABELS)
    make_run(scene.team, scene.task, RELEVANT, tag="oracle")

    [found] = replays(scene.task, computes=True)
    assert (found.run.tag, found.purity.topics, len(found.purity.pure)) == ("oracle", 4, 4)


def test_organizers_see_both_with_their_topics_and_others_nothing(scene, runs, client_of):
    address = reverse("analyses:look-alike-list", args=[scene.lab.slug, scene.task.slug])
    page = made_by_job(client_of(scene.organizer), address).text
    assert page.count(">copy</a>") == 2
    assert ">different</a>" not in page
    assert "4 of 4" in page
    assert "A.1 (0.78, 1.00), A.2 (0.78, 1.00)" in page
    assert "The task has no qrels yet." in page
    make_qrels(scene.task, LABELS)
    oracle = make_run(scene.team, scene.task, RELEVANT, tag="oracle")
    page = made_by_job(client_of(scene.organizer), address).text
    assert f"/runs/{oracle.pk}/scores/A.1/?judged=1" in page
    assert "(6 of 6)" in page
    assert client_of(scene.member).get(address).status_code == 404
