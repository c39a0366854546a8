"""Scoring of runs: what is stored, when runs are scored again, and which runs cannot be scored."""

from datetime import timedelta

import pytest

from arqlab.core.faults import PAUSES
from arqlab.labs.services.labs import change_task
from arqlab.notices.models import Notice
from evaluation.models import RunScore, Scoring, ScoringFault, TopicScore
from evaluation.selectors.pending_scores import pending_scores, unscored_runs
from evaluation.services.scoring import score_runs, score_waiting
from evaluation.tasks import score_unscored_runs
from submissions.models import Run
from tests.collection.factories import FORMULAS, load_small
from tests.evaluation.factories import GOOD, NOW, POOR, make_qrels, make_run
from tests.factories import FormulaTaskFactory, WrittenTaskFactory

NDCG, MAP, P10 = (
    "nDCG(judged_only=True)@1000",
    "AP(rel=2,judged_only=True)",
    "P(rel=2,judged_only=True)@10",
)


def means_of(run: Run) -> dict[str, float]:
    return dict(RunScore.objects.filter(run=run).values_list("measure", "value"))


def test_a_valid_run_is_scored_against_all_qrels_of_its_task(team, task):
    run = make_run(team, task)
    make_qrels(task), make_qrels(task)

    assert score_waiting(at=NOW) == 2
    assert Scoring.objects.filter(run=run).count() == 2


def test_unjudged_items_are_removed_before_scoring(team, task):
    make_qrels(task)
    run = make_run(team, task, GOOD)  # p9 is unjudged: p4 stands third among the judged
    score_waiting(at=NOW)

    assert means_of(run)[NDCG] == pytest.approx(1.0)
    assert means_of(run)[MAP] == pytest.approx(1.0)
    assert means_of(run)[P10] == pytest.approx((0.2 + 0.1) / 2)


def test_a_topic_without_results_counts_as_zero(team, task):
    make_qrels(task)
    run = make_run(team, task, POOR)
    score_waiting(at=NOW)

    assert TopicScore.objects.get(run=run, measure=MAP, query_id="A.2").value == 0
    assert means_of(run)[MAP] == pytest.approx((1 / 3) / 2 / 2)


def test_scoring_twice_changes_nothing(team, task):
    qrel_set = make_qrels(task)
    run = make_run(team, task)
    score_waiting(at=NOW)
    before = list(TopicScore.objects.values_list())

    assert score_waiting(at=NOW) == 0
    assert score_runs(runs=[run], qrel_set=qrel_set, at=NOW) == 0
    assert list(TopicScore.objects.values_list()) == before


def test_all_runs_are_scored_against_new_qrels(team, task):
    make_qrels(task)
    make_run(team, task), make_run(team, task)
    score_waiting(at=NOW)
    make_qrels(task, {"A.1": {"p1": 3}})

    assert score_waiting(at=NOW) == 2


def test_runs_are_scored_for_a_new_measure_and_keep_the_old_scores(team, task):
    make_qrels(task)
    run = make_run(team, task)
    score_waiting(at=NOW)
    change_task(task=task, changes={}, protocol={"measures": ("P@30",)}, by=None)

    assert score_waiting(at=NOW) == 1
    assert {"P(rel=2)@30", NDCG} <= means_of(run).keys()
    assert score_waiting(at=NOW) == 0


def test_a_measure_of_any_installed_provider_needs_no_code(team, task):
    make_qrels(task)
    run = make_run(team, task, GOOD)
    change_task(
        task=task, changes={}, protocol={"measures": ("ERR@20", "RR@10", "NumRet")}, by=None
    )
    score_waiting(at=NOW)

    # gdeval prints five decimals. A.1 holds labels 3, 2, unjudged, 1 in this order, A.2 holds 2, 0.
    a_1 = 7 / 16 + 9 / 16 * 3 / 16 / 2 + 9 / 16 * 13 / 16 / 16 / 4
    assert means_of(run)["ERR@20"] == pytest.approx((a_1 + 3 / 16) / 2, abs=1e-5)
    assert (means_of(run)["RR(rel=2)@10"], means_of(run)["NumRet"]) == (1.0, 6.0)


def test_a_run_waits_while_a_measure_of_it_fails(team, task, caplog, monkeypatch):
    make_qrels(task)
    make_run(team, task)
    change_task(task=task, changes={}, protocol={"measures": ("ERR@20",)}, by=None)

    with monkeypatch.context() as without_perl:
        without_perl.setenv("PATH", "")
        assert score_waiting(at=NOW) == 0
    assert "A measure of run" in caplog.text
    assert score_waiting(at=NOW, task=task) == 1


def test_a_new_order_has_the_run_scored_again(team, task):
    make_qrels(task)
    run = make_run(
        team, task, {"A.1": ["p3", "p1"], "A.2": ["p5"]}, scores={"p1": 9.0, "p3": 1.0, "p5": 1.0}
    )
    score_waiting(at=NOW)
    by_score = means_of(run)[MAP]
    change_task(task=task, changes={}, protocol={"order": "rank"}, by=None)

    assert score_waiting(at=NOW) == 1
    assert means_of(run)[MAP] < by_score


def test_no_score_of_an_old_order_is_left_beside_those_of_a_new_one(team, task):
    make_qrels(task)
    run = make_run(
        team, task, {"A.1": ["p3", "p1"], "A.2": ["p5"]}, scores={"p1": 9.0, "p3": 1.0, "p5": 1.0}
    )
    score_waiting(at=NOW)
    change_task(task=task, changes={}, protocol={"order": "rank", "measures": (P10,)}, by=None)
    score_waiting(at=NOW)

    assert set(means_of(run)) == set(Scoring.objects.get(run=run).measures)
    assert MAP not in means_of(run)
    assert not TopicScore.objects.filter(run=run, measure=MAP).exists()


def test_ntcir_scores_runs_by_score(team):
    team.lab.protocol = "ntcir-12"
    team.lab.save()
    task = FormulaTaskFactory(lab=team.lab, slug="formulas", trec_items="formula-ids")
    make_qrels(task, {"B.1": {"f1": 4, "f2": 0}}, items="formula-ids", relevant_from=3)
    run = make_run(team, task, {"B.1": ["f1", "f2"]}, scores={"f1": 1.0, "f2": 2.0})
    score_waiting(at=NOW)

    assert means_of(run)["AP(rel=3)"] == 0.5


@pytest.mark.parametrize(
    "fields", [{"status": "invalid"}, {"check_only": True}, {"withdrawn_at": NOW}]
)
def test_a_run_that_takes_no_part_is_not_scored(team, task, fields):
    make_qrels(task)
    make_run(team, task, **fields)

    assert score_waiting(at=NOW) == 0


def test_a_run_with_an_unreadable_index_is_skipped(team, task, caplog):
    make_qrels(task)
    broken, sound = make_run(team, task), make_run(team, task)
    broken.index.storage.delete(broken.index.name)

    assert score_waiting(at=NOW) == 1
    assert Scoring.objects.get().run == sound
    assert "cannot be read" in caplog.text


def test_a_run_is_scored_when_its_index_is_back_and_organizers_are_notified_once(scene, media):
    make_qrels(scene.task)
    run = make_run(scene.team, scene.task)
    (media / "indexes").rename(media / "elsewhere")
    assert [score_waiting(at=NOW, task=scene.task) for _ in range(3)] == [0, 0, 0]
    (media / "elsewhere").rename(media / "indexes")

    assert score_waiting(at=NOW, task=scene.task) == 1
    assert Scoring.objects.get().run == run
    notice = Notice.objects.get()
    assert (notice.user, notice.kind) == (scene.organizer, "check-failing")
    assert notice.subject == "Answer retrieval: the server cannot score runs"


@pytest.mark.parametrize("attempts", [1, 2, 9])
def test_the_sweep_scores_a_run_again_after_the_pause_of_its_failed_attempts(
    team, task, media, attempts
):
    qrel_set, run = make_qrels(task), make_run(team, task)
    due_at = NOW
    (media / "indexes").rename(media / "elsewhere")
    for attempt in range(attempts):
        assert score_waiting(at=due_at) == 0
        due_at += PAUSES[min(attempt, len(PAUSES) - 1)]
    (media / "elsewhere").rename(media / "indexes")

    assert score_waiting(at=due_at - timedelta(seconds=1)) == 0
    assert pending_scores() == [(qrel_set, [run])]
    assert score_waiting(at=due_at) == 1
    assert not ScoringFault.objects.exists()


def test_a_run_by_visual_ids_is_scored_against_visual_ids_only(team):
    task = FormulaTaskFactory(lab=team.lab, slug="formulas")
    by_instance = make_qrels(task, {"B.1": {"f1": 3}}, items="formula-ids")
    by_formula = make_qrels(task, {"B.1": {"v1": 3}}, items="visual-ids")
    run = make_run(team, task, {"B.1": ["v1"]}, report={"items": "visual-ids"})

    assert score_waiting(at=NOW) == 1
    assert Scoring.objects.get(run=run).qrel_set == by_formula
    [(_, reason)] = unscored_runs(by_instance, [])
    assert "Use qrels with visual ids" in reason


def test_formula_ids_without_visual_ids_in_the_collection_cannot_be_scored(team):
    task = FormulaTaskFactory(lab=team.lab, slug="formulas")
    qrel_set = make_qrels(task, {"B.1": {"v1": 3}}, items="visual-ids")
    make_run(team, task, {"B.1": ["f1"]}, report={"items": "formula-ids"})

    assert score_waiting(at=NOW) == 0
    [(_, reason)] = unscored_runs(qrel_set, [])
    assert "does not map one to the other" in reason


def test_finding_no_waiting_run_needs_three_queries_and_reads_none(
    team, other_team, task, django_assert_num_queries
):
    make_qrels(task), make_qrels(task)
    make_run(team, task), make_run(other_team, task)

    with django_assert_num_queries(5):
        assert [len(runs) for _, runs in pending_scores()] == [2, 2]
    score_waiting(at=NOW)
    with django_assert_num_queries(3):
        assert pending_scores() == []


def test_the_periodic_task_scores_waiting_runs(team, task):
    make_qrels(task)
    run = make_run(team, task)
    score_unscored_runs()

    assert run.scorings.exists()


def test_an_answer_of_task_3_is_identified_by_its_run_and_topic(team):
    task = WrittenTaskFactory(lab=team.lab, slug="answers")
    make_qrels(
        task, {"A.1": {"draft:A.1": 3, "other:A.1": 0}, "A.2": {"other:A.2": 3}}, items="answers"
    )
    run = make_run(team, task, {"A.1": ["A.1"]}, tag="draft")
    score_waiting(at=NOW)

    assert means_of(run) == {"AR": 3.0, "P(rel=2)@1": 1.0}  # over the topic that it answered


def test_answers_of_task_3_that_were_scored_under_another_tag_are_scored_again(team):
    task = WrittenTaskFactory(lab=team.lab, slug="answers")
    make_qrels(task, {"A.1": {"draft:A.1": 3}}, items="answers")
    run = make_run(team, task, {"A.1": ["A.1"]}, tag="draft")
    score_waiting(at=NOW)
    Scoring.objects.update(identity="final")  # as stored when the tag was the identity
    RunScore.objects.update(value=0.0)

    assert score_waiting(at=NOW) == 1
    assert means_of(run)["AR"] == 3.0
    assert score_waiting(at=NOW) == 0


def test_other_scores_do_not_depend_on_the_tag(team, task):
    make_qrels(task)
    run = make_run(team, task)
    score_waiting(at=NOW)
    Run.objects.filter(pk=run.pk).update(tag="final")

    assert score_waiting(at=NOW) == 0


def test_scores_made_under_older_rules_for_visual_ids_are_recomputed(team, tmp_path):
    task = FormulaTaskFactory(lab=team.lab, slug="formulas")
    index = load_small(team.lab, tmp_path).formulas_index
    make_qrels(task, {"B.1": {"70": 3}}, items="visual-ids")
    make_run(team, task, {"B.1": ["7"]}, report={"items": "formula-ids"})
    score_waiting(at=NOW)
    Scoring.objects.update(identity=index.name)  # as stored before the rules had a version

    assert score_waiting(at=NOW) == 1
    assert score_waiting(at=NOW) == 0


def test_formulas_that_tie_are_scored_in_the_order_of_their_visual_ids(team, tmp_path):
    task = FormulaTaskFactory(lab=team.lab, slug="formulas")
    load_small(team.lab, tmp_path, formulas=FORMULAS.replace("\t\ta=2b", "\t71\ta=2b"))
    make_qrels(task, {"B.1": {"70": 0, "71": 3}}, items="visual-ids")
    facts = {"items": "formula-ids", "order": "score"}
    run = make_run(team, task, {"B.1": ["8", "9"]}, scores={"8": 1.0, "9": 1.0}, report=facts)
    score_waiting(at=NOW)

    assert means_of(run)[MAP] == 1.0  # by formula id, 9 (70) would be first


def test_formula_runs_are_scored_again_when_the_visual_ids_change(team, tmp_path):
    task = FormulaTaskFactory(lab=team.lab, slug="formulas")
    load_small(team.lab, tmp_path)
    make_qrels(task, {"B.1": {"70": 0, "71": 3}}, items="visual-ids")
    run = make_run(team, task, {"B.1": ["7"]}, report={"items": "formula-ids"})
    score_waiting(at=NOW)
    assert means_of(run)[MAP] == 0
    load_small(team.lab, tmp_path, formulas=FORMULAS.replace("\t70\t", "\t71\t"))

    assert score_waiting(at=NOW) == 1
    assert means_of(run)[MAP] == 1
    assert score_waiting(at=NOW) == 0
