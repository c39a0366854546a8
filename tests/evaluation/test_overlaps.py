"""Lexical overlap of Task 3 runs: stored, by topic, with the references of other teams."""

from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.core.files.base import ContentFile
from django.urls import reverse

from arqkit.measures.contextual import AnswerModel, vectors_f1
from arqlab.core.models import Task
from assessment.models import QrelSet
from collection.models import Collection, Post
from evaluation.models import RunScore, TopicScore
from evaluation.selectors.oddities import release_oddities
from evaluation.selectors.pending_scores import pending_scores
from evaluation.services.scoring import score_waiting
from submissions.models import Run
from tests.arqkit.measures.tiny_models import make_tiny_model
from tests.evaluation.factories import NOW, make_qrels, make_run
from tests.factories import WrittenTaskFactory

SPAN = '<span class="math-container" id="1">$x^2$</span>'


def run_of(team, task, tag, **answers):
    texts = {topic.replace("_", "."): text for topic, text in answers.items()}
    return make_run(team, task, {topic: [topic] for topic in texts}, tag=tag, answers=texts)


@pytest.fixture(scope="module")
def tiny_model(tmp_path_factory):
    """Return the folder of a language model; skip without the packages of the systems."""
    return make_tiny_model(tmp_path_factory.mktemp("model"))


@pytest.fixture
def third(scene):
    """Return the scene with a Task 3 that is scored by LO, and posts that Task 1 has judged."""
    task = WrittenTaskFactory(
        lab=scene.lab, slug="task3", overrides={"measures": ["AR", "LO"], "max_characters": 20}
    )
    collection = Collection.objects.create(slug="posts", loaded_at=NOW)
    collection.labs.add(scene.lab)
    for post_id, body in (
        ("1", f"<p>one {SPAN}</p>"),
        ("2", "<p>two three</p>"),
        ("3", "<p>a post that is longer than twenty characters</p>"),
        ("4", "<p>one two</p>"),
    ):
        Post.objects.create(collection=collection, post_id=post_id, kind="answer", body=body)
    make_qrels(scene.task, {"A.1": {"1": 2, "4": 1}, "A.2": {"2": 3, "3": 3}})
    make_run(scene.team, scene.task, {"A.1": ["4", "1"], "A.2": ["3"]}, tag="own")
    alpha = run_of(scene.team, task, "alpha", A_1="one $x^2$", A_2="two four", A_3="five")
    beta = run_of(scene.other_team, task, "beta", A_1="one six", A_2="seven", A_3="five six")
    labels = {
        "A.1": {"alpha:A.1": 3, "beta:A.1": 2},
        "A.2": {"alpha:A.2": 1, "beta:A.2": 0},
        "A.3": {"alpha:A.3": 3, "beta:A.3": 1},
    }
    qrels = make_qrels(task, labels, items="answers")
    score_waiting(at=NOW)
    return SimpleNamespace(**vars(scene), third=task, qrels=qrels, alpha=alpha, beta=beta)


def by_topic(run, measure="LO"):
    rows = TopicScore.objects.filter(run=run, measure=measure)
    return dict(rows.values_list("query_id", "value"))


def test_each_answer_is_compared_with_the_relevant_ones_of_others(third):
    # A.1 of Alpha: its own answer and post 1, which only Alpha retrieved, are left out; it has one,
    # x, ^ and 2, and Beta's has one and six. A.2: post 2, which no run retrieved; post 3 is too
    # long. A.3: no team but Alpha has a relevant answer.
    assert by_topic(third.alpha) == pytest.approx({"A.1": 2 / 6, "A.2": 2 / 4})
    assert by_topic(third.beta) == pytest.approx({"A.1": 2 / 6, "A.2": 0, "A.3": 2 / 3})


def test_the_mean_is_over_the_topics_with_a_reference_and_on_the_pages(third, client_of):
    mean = RunScore.objects.get(run=third.alpha, measure="LO").value
    assert mean == pytest.approx((2 / 6 + 2 / 4) / 2)

    args = [third.lab.slug, "task3"]
    client = client_of(third.organizer)
    board = client.get(reverse("evaluation:leaderboard", args=args)).content.decode()
    assert f"{mean:.4f}" in board
    topics = reverse("evaluation:run-scores", args=[*args, third.alpha.pk], query={"measure": "LO"})
    assert "0.5000" in client.get(topics).content.decode()
    refused = client.get(
        reverse("evaluation:leaderboard", args=[third.lab.slug, "task1"]) + "?also=LO"
    )
    assert "Add it to the measures of Task 3" in refused.content.decode()


def test_nothing_is_scored_again_until_a_reference_changes(third):
    assert pending_scores() == []
    assert score_waiting(at=NOW) == 0

    run_of(third.other_team, third.third, "gamma", A_1="nine")
    assert [(qrels, len(runs)) for qrels, runs in pending_scores()] == [(third.qrels, 3)]
    score_waiting(at=NOW)
    make_run(third.other_team, third.task, {"A.1": ["1"]}, tag="new")
    score_waiting(at=NOW)
    assert by_topic(third.alpha)["A.1"] == 1  # Beta retrieved post 1 too.


def test_a_withdrawn_run_stays_a_reference(third):
    Run.objects.filter(pk=third.beta.pk).update(withdrawn_at=NOW)
    score_waiting(at=NOW)

    assert by_topic(third.alpha)["A.1"] == pytest.approx(2 / 6)


def test_no_run_gets_scores_that_lack_the_answers_of_an_index_that_cannot_be_read(third, caplog):
    storage, name = third.beta.index.storage, third.beta.index.name
    before, kept = by_topic(third.alpha), storage.open(name).read()
    storage.delete(name)
    gamma = run_of(third.team, third.third, "gamma", A_1="one")

    assert score_waiting(at=NOW) == 0
    assert by_topic(third.alpha) == before
    assert "wait for their scores" in caplog.text
    storage.replace(name, ContentFile(kept))
    assert score_waiting(at=NOW + timedelta(minutes=1)) > 0
    assert by_topic(gamma)


def of_task(third, **overrides):
    Task.objects.filter(pk=third.third.pk).update(
        overrides={"max_characters": 20, "measures": ["AR", "LO"], **overrides}
    )


def test_the_tokens_of_the_model_are_a_choice_that_scores_again(third, settings, tiny_model):
    settings.ANSWER_MODEL = str(tiny_model)
    of_task(third, tokenizer="model")

    assert score_waiting(at=NOW) == 2
    # The model splits both into letters: three of eight and six are the same.
    assert by_topic(third.alpha)["A.1"] == pytest.approx(2 * 3 / (8 + 6))


def test_contextual_similarity_is_with_the_same_references(third, settings, tiny_model):
    settings.ANSWER_MODEL = str(tiny_model)
    of_task(third, measures=["AR", "LO", "CS"])

    assert score_waiting(at=NOW) == 2
    found = by_topic(third.alpha, "CS")
    assert found.keys() == by_topic(third.alpha).keys()
    model = AnswerModel(str(tiny_model))
    texts = map(model.vectors, ("two four", "two three"))
    assert found["A.2"] == pytest.approx(vectors_f1(*texts))


def test_without_a_model_the_organizer_reads_what_to_do_and_the_rest_is_scored(
    third, settings, tiny_model, client_of
):
    of_task(third, measures=["AR", "LO", "CS"])
    board = reverse("evaluation:leaderboard", args=[third.lab.slug, "task3"])
    client = client_of(third.organizer)
    for folder, problem in (("", "no language model"), (f"{tiny_model}/none", "no config.json")):
        settings.ANSWER_MODEL, qrels = folder, QrelSet.objects.get(pk=third.qrels.pk)
        assert score_waiting(at=NOW) == 0
        assert problem in client.get(board).text
        red = [row.sentence for row in release_oddities(qrels, at=NOW) if row.count]
        assert any("CS cannot be computed. " in one and problem in one for one in red)
    assert by_topic(third.alpha)

    settings.ANSWER_MODEL = str(tiny_model)
    assert score_waiting(at=NOW) == 2
    assert "CS cannot be computed" not in client.get(board).text


def test_other_tasks_have_no_value_and_are_not_scored_again(third):
    Task.objects.filter(pk=third.task.pk).update(overrides={"measures": ["AP", "LO"]})
    score_waiting(at=NOW)

    assert pending_scores() == []
    assert not RunScore.objects.filter(run__task=third.task, measure="LO").exists()
