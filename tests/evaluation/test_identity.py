"""Answers (Task 3) keep their labels whatever happens to the tag and the team of their run."""

from dataclasses import replace

import pytest

from arqkit.protocols.presets import PoolProtocol
from arqlab.core.models import Task, Team, User
from assessment.models import Pool, PoolInstance, QrelSet
from assessment.pools.selectors.choices import PoolChoice
from assessment.pools.services.freezing import freeze_pool
from assessment.qrels.services.versions import QrelsChoice, freeze_qrels
from evaluation.models import RunScore, Scoring
from evaluation.services.scoring import score_waiting
from submissions.models import Run
from submissions.services.changing import correct_run, metadata_of, move_run
from submissions.services.rules import assign_identifier
from tests.assessment.factories import judge
from tests.evaluation.factories import NOW, make_qrels, make_run
from tests.factories import Scene, TopicFactory, WrittenTaskFactory

CHOICE = PoolChoice(PoolProtocol(primary=1, alternate=1), seed=1)
LABELS = {"A.1": 3, "A.2": 2}


@pytest.fixture
def third(scene: Scene) -> Task:
    task = WrittenTaskFactory(lab=scene.lab, slug="task3", overrides={"min_relevant": 0})
    for number in (1, 2):
        TopicFactory(task=task, query_id=f"A.{number}", position=number)
    return task


def answering(team: Team, task: Task, tag: str = "gpt", word: str = "Yes") -> Run:
    """Create a run that answers both topics, with this word first."""
    texts = {"A.1": f"{word}, $x$.", "A.2": f"{word}, 4."}
    return make_run(team, task, {"A.1": ["A.1"], "A.2": ["A.2"]}, tag=tag, answers=texts)


def freeze_judged(task: Task, assessor: User) -> Pool:
    """Freeze a pool and judge it: answers that begin with Yes are labelled 3 and 2, others 0."""
    pool = freeze_pool(task=task, choice=CHOICE, by=None, at=NOW)
    for instance in PoolInstance.objects.filter(item__pool=pool).select_related("item__topic"):
        item = instance.item
        label = LABELS[item.topic.query_id] if item.text.startswith("Yes") else 0
        judge(assessor, instance, label)
    return pool


def freeze_next(task: Task) -> QrelSet:
    """Freeze the draft as the next version, and score all runs against all versions."""
    name = f"v{task.qrel_sets.count() + 1}"
    made = freeze_qrels(task=task, choice=QrelsChoice(name), by=None, at=NOW)
    score_waiting(at=NOW)
    return made


def means(run: Run) -> dict[str, dict[str, float]]:
    """Return the scores of a run by version of the qrels and measure."""
    by_version: dict[str, dict[str, float]] = {}
    for score in RunScore.objects.filter(run=run).select_related("qrel_set"):
        by_version.setdefault(score.qrel_set.name, {})[score.measure] = score.value
    return by_version


def test_a_tag_corrected_after_the_freeze_leaves_all_scores_equal(scene, third):
    run = answering(scene.team, third)
    freeze_judged(third, scene.assessor)
    freeze_next(third)

    correct_run(run=run, metadata=replace(metadata_of(run), tag="gpt-4"), by=None, at=NOW)
    freeze_next(third)

    assert means(run) == {name: {"AR": 2.5, "P(rel=2)@1": 1.0} for name in ("v1", "v2")}
    assert len({version.sha256 for version in QrelSet.objects.all()}) == 1


def test_a_run_moved_to_another_team_after_the_freeze_keeps_all_scores(scene, third):
    run = answering(scene.team, third)
    freeze_judged(third, scene.assessor)
    freeze_next(third)

    move_run(run=run, team=scene.other_team, by=scene.organizer, at=NOW)
    freeze_next(third)

    assert means(run) == {name: {"AR": 2.5, "P(rel=2)@1": 1.0} for name in ("v1", "v2")}


def test_runs_of_two_teams_with_one_tag_are_pooled_and_each_has_its_own_labels(scene, third):
    good, poor = answering(scene.team, third), answering(scene.other_team, third, word="No")

    pool = freeze_judged(third, scene.assessor)
    freeze_next(third)

    assert pool.items.count() == 4
    assert (means(good)["v1"]["AR"], means(poor)["v1"]["AR"]) == (2.5, 0.0)


def test_the_answers_of_two_tasks_with_one_tag_are_mixed_into_the_pool_of_task_1(scene, third):
    answering(scene.team, third)
    other = WrittenTaskFactory(lab=scene.lab, slug="task3-short")
    run = answering(scene.team, other, word="No")
    Run.objects.filter(pk=run.pk).update(status="uploaded", identifier="")
    assign_identifier(run)
    Run.objects.filter(pk=run.pk).update(status="valid")
    make_run(scene.team, scene.task, {"A.1": ["10"]})

    mixed = PoolProtocol(primary=1, alternate=1, includes_generated_answers=True)
    pool = freeze_pool(task=scene.task, choice=PoolChoice(mixed, 1), by=None, at=NOW)

    names = {item for item in pool.items.values_list("item", flat=True) if ":" in item}
    assert names == {f"{name}:A.{n}" for name in ("gpt", f"gpt-{run.pk}") for n in (1, 2)}


def test_a_later_run_of_another_team_with_the_same_tag_receives_no_labels(scene, third):
    good = answering(scene.team, third)
    freeze_judged(third, scene.assessor)

    copy = answering(scene.other_team, third, word="Nonsense")
    freeze_next(third)

    assert (means(good)["v1"]["AR"], means(copy)["v1"]["AR"]) == (2.5, 0.0)


def test_qrels_of_a_file_join_the_run_whose_tag_they_name(scene, third):
    make_qrels(third, {"A.1": {"gpt:A.1": 3}, "A.2": {"gpt:A.2": 5}}, items="answers")
    run = answering(scene.team, third)

    score_waiting(at=NOW)

    assert means(run)["v1"]["AR"] == 1.5


def test_scores_by_the_tag_are_kept_where_it_is_the_identifier(scene, third):
    third.overrides = {"measures": ["AR"]}  # LO would add its references to the identity
    third.save()
    run = answering(scene.team, third)
    make_qrels(third, {"A.1": {"gpt:A.1": 3}}, items="answers")
    score_waiting(at=NOW)

    assert Scoring.objects.get(run=run).identity == "gpt"
    assert score_waiting(at=NOW) == 0
