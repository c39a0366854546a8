"""Organizers see nearly identical runs of different teams, and runs that replay the qrels."""

from __future__ import annotations

import pytest
from django.urls import reverse

from evaluation.services.look_alikes import look_alikes, replays
from evaluation.services.scoring import score_waiting
from tests.evaluation.factories import GOOD, NOW, POOR, QRELS, make_qrels, make_run

COPIED = {"A.1": ["p2", "p1", "p9", "p4"], "A.2": ["p1", "p5"]}  # the items of GOOD


@pytest.fixture
def runs(scene):
    first = make_run(scene.team, scene.task, GOOD, tag="original")
    copy = make_run(scene.other_team, scene.task, COPIED, tag="copy")
    make_run(scene.team, scene.task, GOOD, tag="variant")
    make_run(scene.other_team, scene.task, POOR, tag="different")
    return first, copy


def pairs_of(task):
    return [(pair.first.tag, pair.second.tag, pair.similarity) for pair in look_alikes(task)]


def test_runs_of_different_teams_with_the_same_items_look_alike(scene, runs):
    assert pairs_of(scene.task) == [
        ("original", "copy", (1, 1)),
        ("copy", "variant", (1, 1)),
    ]


def test_withdrawn_runs_are_left_out_and_an_unreadable_one_looks_like_none(scene, runs):
    first, copy = runs
    first.withdrawn_at = NOW
    first.save()
    copy.index.storage.delete(copy.index.name)
    assert pairs_of(scene.task) == []


def test_a_run_in_the_order_of_the_labels_may_replay_the_qrels(scene, runs):
    assert replays(scene.task) == []  # no qrels yet
    make_qrels(scene.task)
    ideal = {topic: sorted(items, key=lambda item: -items[item]) for topic, items in QRELS.items()}
    ideal["A.2"].remove("p6")  # a system failure is not relevant
    make_run(scene.team, scene.task, ideal, tag="oracle")
    score_waiting(at=NOW)

    found = {one.run.tag: one.share for one in replays(scene.task)}
    assert found["oracle"] == pytest.approx(1)
    assert "different" not in found


def test_organizers_see_both_and_others_nothing(scene, runs, client_of):
    address = reverse("evaluation:look-alike-list", args=[scene.lab.slug, scene.task.slug])
    page = client_of(scene.organizer).get(address).content.decode()
    assert page.count(">copy</a>") == 2
    assert ">different</a>" not in page
    assert "The task has no qrels yet." in page
    assert client_of(scene.member).get(address).status_code == 404
