"""Measures that the leaderboard page is asked for: their figures, and who may ask."""

from random import Random
from types import SimpleNamespace

import pytest
import pytrec_eval
from django.urls import reverse

from arqlab.core.models import Task
from evaluation.models import RunScore
from evaluation.permissions import score_access_of, visible_board
from evaluation.services import further_measures
from evaluation.services.further_measures import with_further_measures
from evaluation.services.releasing import release_leaderboard
from evaluation.services.scoring import score_waiting
from tests.evaluation.factories import NOW, make_qrels, make_run

ITEMS = [f"p{number}" for number in range(1, 31)]
TOPICS = [f"A.{number}" for number in range(1, 9)]


@pytest.fixture
def asked(scene):
    """Return the scene with random qrels and three scored runs, which miss some topics."""
    random = Random(5)
    labels = {topic: {i: random.choice([0, 0, 1, 2, 3]) for i in ITEMS[:20]} for topic in TOPICS}
    qrels = make_qrels(scene.task, labels)
    lists = [
        {topic: random.sample(ITEMS, 12) for topic in random.sample(TOPICS, 7)} for _ in range(3)
    ]
    teams = (scene.team, scene.other_team, scene.team)
    runs = [
        make_run(team, scene.task, each, tag=f"run-{number}")
        for number, (team, each) in enumerate(zip(teams, lists, strict=True), start=1)
    ]
    score_waiting(at=NOW)
    return SimpleNamespace(
        **vars(scene), people=scene.people, qrels=qrels, labels=labels, runs=runs, lists=lists
    )


def board_of(asked, text, **options):
    shown = visible_board(score_access_of(asked.organizer, asked.task))
    return with_further_measures(shown, text, user=options.get("user", asked.organizer))


def values(further, name):
    return {row.run.key: row.run.values.get(name) for row in further.visible.board.rows}


def url(asked, **query):
    return reverse("evaluation:leaderboard", args=[asked.lab.slug, asked.task.slug], query=query)


@pytest.mark.parametrize(
    ("text", "name", "key"),
    [
        ("R@5", "R(rel=2)@5", "recall_5"),
        ("Success@1", "Success(rel=2)@1", "success_1"),
        ("nDCG@5", "nDCG@5", "ndcg_cut_5"),
        ("Rprec", "Rprec(rel=2)", "Rprec"),
    ],
)
def test_a_measure_is_what_trec_eval_computes(text, name, key, asked):
    further = board_of(asked, text)
    level = 1 if key.startswith("ndcg") else 2
    evaluator = pytrec_eval.RelevanceEvaluator(
        asked.labels, {"recall.5", "success.1", "ndcg_cut.5", "Rprec"}, relevance_level=level
    )
    for run, lists in zip(asked.runs, asked.lists, strict=True):
        scores = {
            topic: {item: -float(rank) for rank, item in enumerate(items)}
            for topic, items in lists.items()
        }
        found = evaluator.evaluate(scores)
        expected = sum(one[key] for one in found.values()) / len(TOPICS)
        assert values(further, name)[run.pk] == pytest.approx(expected, abs=1e-9)


def test_nothing_is_stored_and_the_next_request_computes_nothing(asked, monkeypatch):
    before = RunScore.objects.count()
    first = board_of(asked, "ERR@20")
    monkeypatch.setattr(further_measures, "Scorer", None)

    assert values(board_of(asked, " ERR@20 "), "ERR@20") == values(first, "ERR@20")
    assert RunScore.objects.count() == before
    assert all(value > 0 for value in values(first, "ERR@20").values())


def test_another_threshold_and_another_index_are_computed_again(asked):
    first = values(board_of(asked, "R@5"), "R(rel=2)@5")
    other = make_run(asked.team, asked.task, dict.fromkeys(TOPICS, ITEMS[20:]))
    asked.runs[0].index = other.index
    asked.runs[0].save()
    second = values(board_of(asked, "R@5"), "R(rel=2)@5")

    assert first[asked.runs[0].pk] > 0 == second[asked.runs[0].pk]
    assert first[asked.runs[1].pk] == second[asked.runs[1].pk]


def test_an_unreadable_run_has_no_value(asked):
    asked.runs[0].index.delete(save=False)
    further = board_of(asked, "R@5")

    assert values(further, "R(rel=2)@5")[asked.runs[0].pk] is None


def test_a_failing_measure_leaves_its_cells_empty(asked, monkeypatch):
    def fail(*_):
        raise further_measures.MeasureFailedError("R@5")

    monkeypatch.setattr(further_measures, "means", fail)
    further = board_of(asked, "R@5")

    assert set(values(further, "R(rel=2)@5").values()) == {None}


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("nonsense", "Unknown measure"),
        ("INST(max_rel=3)", "No installed provider computes"),
        ("P(rel=1)@10", ""),
        ("P@1 P@2 P@3 P@4 P@6 P@7", "at most 5"),
        ("AP(judged_only=True)@1000", "would have the same heading"),
    ],
)
def test_a_wrong_measure_is_explained(text, error, asked, client_of):
    further = board_of(asked, text)
    page = client_of(asked.organizer).get(url(asked, also=text)).content.decode()

    assert error in further.error
    assert bool(further.error) == bool(error) == ("Available measures" in page)


def test_a_measure_of_the_task_is_not_added(asked):
    further = board_of(asked, "AP(rel=2,judged_only=True), P(rel=2)@7;R@5")

    labels = [measure.label for measure in further.visible.board.measures]
    assert labels[-2:] == ["P@7", "R@5"]
    assert len(labels) == len(set(labels))


def test_the_column_has_its_definition_and_ceiling_and_no_link(asked, client_of):
    page = client_of(asked.organizer).get(url(asked, also="ERR@20")).content.decode()

    assert "Chapelle et al., CIKM 2009" in page
    assert "measure=ERR" not in page
    further = board_of(asked, "ERR@20 NumRet")
    assert 0 < further.visible.board.ceilings["ERR@20"] <= 1
    assert "NumRet" not in further.visible.board.ceilings


def test_who_sees_no_labels_cannot_ask(asked, client_of):
    Task.objects.filter(pk=asked.task.pk).update(shows_own_scores=True)
    page = client_of(asked.member).get(url(asked, also="ERR@20")).content.decode()
    assert "ERR@20" not in page

    release_leaderboard(qrel_set=asked.qrels, by=None, at=NOW)
    for user in ("visitor", "member", "other_member"):
        page = client_of(asked.people[user]).get(url(asked, also="ERR@20")).content.decode()
        assert "Chapelle" in page
