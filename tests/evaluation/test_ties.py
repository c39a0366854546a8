"""The best and worst case of a run with tied scores: figures, and who sees them."""

import re
from types import SimpleNamespace

import pytest
from django.urls import reverse

from evaluation.services import tie_bounds
from evaluation.services.scoring import score_waiting
from tests.evaluation.factories import GOOD, NOW, make_qrels, make_run

TIED = {"p1": 1.0, "p2": 1.0, "p9": 1.0, "p4": 1.0}


@pytest.fixture
def tied(scene):
    """Return the scene with a run whose items of A.1 are all tied, and one without ties."""
    qrels = make_qrels(scene.task)
    run = make_run(scene.team, scene.task, {"A.1": GOOD["A.1"]}, scores=TIED)
    untied = make_run(scene.team, scene.task, tag="untied")
    score_waiting(at=NOW)
    return SimpleNamespace(**vars(scene), people=scene.people, qrels=qrels, run=run, untied=untied)


def page_of(scene, run, client) -> str:
    address = reverse("evaluation:run-scores", args=[scene.lab.slug, scene.task.slug, run.pk])
    return client.get(address).content.decode()


def figures(text: str) -> dict[str, list[str]]:
    table = re.search(r'id="tie-bounds".*?</table>', text, re.DOTALL)[0]
    rows = re.findall(r'row">(.*?)</th>(.*?)</tr>', table, re.DOTALL)
    return {name: re.findall(r">([\d.]+)<", cells) for name, cells in rows}


def test_the_page_shows_how_far_ties_move_each_measure(tied, client_of):
    found = figures(page_of(tied, tied.run, client_of(tied.organizer)))

    # Of four tied items in one of two topics, p1 and p2 are relevant; p9 is not judged, and by id,
    # the order is p9 p4 p2 p1: AP' is (1/2 + 2/3) / 2, (1 + 1) / 2 or, as reported, the worst.
    assert found["MAP′"] == ["0.2917", "0.2917", "0.5000"]
    assert found["P′@10"] == ["0.1000", "0.1000", "0.1000"]


def test_a_run_without_ties_has_no_such_table(tied, client_of):
    assert "tie-bounds" not in page_of(tied, tied.untied, client_of(tied.organizer))


def test_the_bounds_of_a_run_are_computed_once(tied, client_of, monkeypatch):
    client = client_of(tied.organizer)
    before = figures(page_of(tied, tied.run, client))
    monkeypatch.setattr(tie_bounds, "tie_orders", None)

    assert figures(page_of(tied, tied.run, client)) == before


def test_a_run_whose_index_is_lost_has_no_bounds(tied, client_of):
    tied.run.index.storage.delete(tied.run.index.name)

    assert "tie-bounds" not in page_of(tied, tied.run, client_of(tied.organizer))
