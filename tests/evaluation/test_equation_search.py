"""A task of equation search (002): its measures on the board, by topic, in files and in papers."""

import csv
from types import SimpleNamespace

import pytest
from django.urls import reverse

from arqlab.labs.services.labs import change_task
from contrib.papers.services.paper_kits import paper_board, paper_tables
from evaluation.services.scoring import score_waiting
from tests.evaluation.factories import NOW, make_qrels, make_run

MEASURES = ["uMAP@1000", "RankingScore", "OneNN", "P@10", "P@100", "P@1000"]
# Relevant are p1 and p2 of A.1, and p5 of A.2.
LISTS = {"A.1": ["p3", "p2", "p9", "p1", "p4"], "A.2": ["p5", "p1"]}
BY_HAND = {  # P(2) + P(4); two of four pairs; P(1), the only pair
    "A.1": {"uMAP": 1 / 2 + 2 / 4, "RankingScore": 2 / 4, "1-NN": 0, "P@10": 0.2},
    "A.2": {"uMAP": 1, "RankingScore": 1, "1-NN": 1, "P@10": 0.1},
}


@pytest.fixture
def searched(scene) -> SimpleNamespace:
    """Return the scene with a scored run of a task with the measures of equation search."""
    protocol = {"measures": MEASURES}
    task = change_task(task=scene.task, changes={}, protocol=protocol, by=scene.organizer, at=NOW)
    qrels = make_qrels(task)
    run = make_run(scene.team, task, LISTS, tag="embeddings")
    score_waiting(at=NOW)
    return SimpleNamespace(scene=scene, qrels=qrels, run=run)


def address(name: str, *more: int, **query: str) -> str:
    return reverse(f"evaluation:{name}", args=["arqmath-x", "task1", *more], query=query)


def test_the_api_has_the_values_of_each_topic_and_their_means(searched, client_of):
    client = client_of(searched.scene.organizer)

    found = client.get(f"/api/v1{address('run-scores', searched.run.pk)}").json()

    for topic, values in BY_HAND.items():
        assert {label: found["topics"][topic][label] for label in values} == pytest.approx(values)
    means = {label: (BY_HAND["A.1"][label] + BY_HAND["A.2"][label]) / 2 for label in BY_HAND["A.1"]}
    assert {label: found["means"][label] for label in means} == pytest.approx(means)


def test_the_file_of_the_board_has_the_papers_columns(searched, client_of):
    file = client_of(searched.scene.organizer).get(address("leaderboard", format="csv"))

    [row] = csv.DictReader(file.content.decode().splitlines())
    assert [row[name] for name in ("uMAP", "RankingScore", "1-NN")] == [
        "1.0000",
        "0.7500",
        "0.5000",
    ]
    assert [row[f"P@{cutoff}"] for cutoff in (10, 100, 1000)] == ["0.1500", "0.0150", "0.0015"]


def test_the_page_defines_the_measures_with_the_papers_sections(searched, client_of):
    page = client_of(searched.scene.organizer).get(address("leaderboard")).content.decode()

    assert all(f"KDD 2020, §{section}" in page for section in ("5.2", "6.1", "6.3"))


def test_the_paper_kit_says_what_the_short_names_mean(searched):
    scene = searched.scene
    tables = paper_tables(scene.organizer, paper_board(searched.qrels))
    captions = " ".join(table.caption for table in tables)

    assert "uMAP: unnormalized mean average precision." in captions
    assert "1-NN: accuracy of the nearest neighbor." in captions
