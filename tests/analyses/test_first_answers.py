"""Runs of Task 1, cut to their first answers: their figures, and who sees them."""

import csv
from random import Random
from types import SimpleNamespace

import pytest
from django.urls import reverse

from analyses.services.first_answers import first_answers, first_answers_access
from arqlab.core.models import Task
from evaluation.permissions import visible_board
from evaluation.services.releasing import release_leaderboard
from evaluation.services.scoring import score_waiting
from tests.evaluation.factories import NOW, make_qrels, make_run
from tests.factories import WrittenTaskFactory

TOPICS = [f"A.{number}" for number in range(1, 13)]
ITEMS = [f"p{number}" for number in range(1, 9)]


@pytest.fixture
def both(scene):
    """Return the scene with a Task 3, and runs of Task 1 that miss random topics and items."""
    random = Random(7)
    # 5 and 6 are no judgments, and p8 has none.
    labels = {topic: {i: random.choice([0, 1, 2, 3, 5, 6]) for i in ITEMS[:7]} for topic in TOPICS}
    qrels = make_qrels(scene.task, labels)
    lists = [
        {topic: random.sample(ITEMS, 4) for topic in random.sample(TOPICS, 9)} for _ in range(4)
    ]
    runs = [
        make_run(team, scene.task, each, tag=f"run-{number}", is_baseline=number == 4)
        for number, (team, each) in enumerate(
            zip((scene.team, scene.team, scene.other_team, scene.other_team), lists, strict=True), 1
        )
    ]
    score_waiting(at=NOW)
    third = WrittenTaskFactory(lab=scene.lab, slug="task3")
    return SimpleNamespace(
        **vars(scene),
        people=scene.people,
        third=third,
        qrels=qrels,
        labels=labels,
        runs=runs,
        lists=lists,
    )


def url(both, **query):
    return reverse("analyses:first-answers", args=[both.lab.slug, "task3"], query=query)


def test_means_are_over_answered_topics_and_labels_that_are_no_judgments_count_0(both):
    shown = visible_board(first_answers_access(both.organizer, both.third))
    found = {row.run.key: row.run.values for row in first_answers(shown).visible.board.rows}

    for run, lists in zip(both.runs, both.lists, strict=True):
        first = [both.labels[topic].get(items[0], 0) for topic, items in lists.items()]
        labels = [label if label <= 3 else 0 for label in first]
        expected = {
            "AR": sum(labels) / len(labels),
            "P(rel=2)@1": sum(label >= 2 for label in labels) / len(labels),
        }
        assert found[run.pk] == pytest.approx(expected, abs=1e-9)


def test_the_table_has_the_layout_of_the_paper(both, client_of):
    text = client_of(both.organizer).get(url(both, format="tsv")).content.decode()
    rows = list(csv.DictReader(text.splitlines(), delimiter="\t"))

    assert rows[0]["run"] == "run-4"
    teams = {row["team"]: float(row["AR"]) for row in reversed(rows[1:])}
    assert list(teams.values()) == sorted(teams.values())
    page = client_of(both.organizer).get(url(both)).content.decode()
    assert all(row["AR"] in page and row["P@1"] in page for row in rows)
    assert "Best possible" in page


def test_each_role_sees_the_runs_when_it_sees_the_labels(both, client_of):
    Task.objects.filter(pk=both.task.pk).update(shows_own_scores=True)
    board = reverse("evaluation:leaderboard", args=[both.lab.slug, "task3"])
    for state in ("live", "released"):
        for role, person in both.people.items():
            sees = state == "released" or role in ("organizer", "superuser")
            client = client_of(person)
            assert client.get(url(both)).status_code == (200 if sees else 404)
            assert client.get(url(both, format="csv")).status_code == (200 if sees else 404)
            assert (url(both) in client.get(board).content.decode()) == sees
        if state == "live":
            release_leaderboard(qrel_set=both.qrels, by=None, at=NOW)


def test_other_tasks_and_labs_without_task_1_have_no_page(both, client_of):
    client = client_of(both.organizer)
    own = reverse("analyses:first-answers", args=[both.lab.slug, both.task.slug])
    assert client.get(own).status_code == 404

    Task.objects.filter(pk=both.task.pk).update(kind=Task.Kind.FORMULAS)
    assert client.get(url(both)).status_code == 404
