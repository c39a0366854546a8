"""The pool audit: what baselines rank high and nobody pools or judges."""

import pytest

from arqkit.protocols.presets import PoolProtocol
from arqlab.core.models import Task
from assessment.models import PoolInstance
from assessment.pools.selectors.choices import PoolChoice
from assessment.pools.services.freezing import freeze_pool
from tests.assessment.factories import judge
from tests.assessment.pools.views.test_plans import at, filled
from tests.ceremonies import sentences
from tests.collection.factories import load_small
from tests.evaluation.factories import NOW, make_qrels, make_run
from tests.factories import FormulaTaskFactory, TopicFactory, WrittenTaskFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def browser(client_of, organizer):
    return client_of(organizer)


@pytest.fixture
def runs(task, team, other_team):
    """Return the runs by tag: a team's, and two baselines that agree on an item of rank 3 and 2."""
    lists = {"deep": ["10", "11", "12"], "bm25": ["10", "11", "20"], "tfidf": ["10", "20", "21"]}
    return {
        tag: make_run(team, task, {"A.1": items}, tag=tag, is_baseline=tag != "deep")
        for tag, items in lists.items()
    }


def frozen(task: Task, depth: int = 1):
    choice = PoolChoice(PoolProtocol(primary=depth, alternate=depth), seed=1)
    return freeze_pool(task=task, choice=choice, by=None, at=NOW)


def items(page) -> list[tuple[str, int, int, str]]:
    rows = page.context["unpooled_items"].rows.iter_rows(named=True)
    return [(row["item"], row["rank"], len(row["runs"]), row["state"]) for row in rows]


def test_items_that_baselines_rank_high_and_no_pool_has_are_listed_best_first(browser, task, runs):
    frozen(task)

    page = browser.get(at(task, "audit"))

    assert items(page) == [
        ("20", 2, 2, "not pooled"),
        ("11", 2, 1, "not pooled"),
        ("21", 3, 1, "not pooled"),
    ]
    totals = page.context["run_totals"].rows
    assert [(row.run.tag, row.counts["items"], row.counts["not_pooled"]) for row in totals] == [
        ("bm25", 3, 2),
        ("tfidf", 3, 2),
    ]


def test_the_depth_and_the_runs_are_chosen_in_the_address(browser, task, runs):
    frozen(task)
    chosen = [runs["deep"].pk, runs["bm25"].pk]

    page = browser.get(at(task, "audit"), {"depth": 2, "run": chosen, "topic": "A.1"})

    assert items(page) == [("11", 2, 2, "not pooled")]
    kept = page.context["unpooled_items"].listing.kept
    assert kept == [("depth", "2"), *(("run", str(run)) for run in chosen)]


def test_once_judging_has_begun_pooled_items_without_a_label_are_listed(
    browser, task, runs, assessor
):
    frozen(task, depth=2)
    assert items(browser.get(at(task, "audit"))) == [("21", 3, 1, "not pooled")]

    judge(assessor, PoolInstance.objects.get(doc_id="10"), 3)

    assert items(browser.get(at(task, "audit"), {"depth": 2})) == [
        ("11", 2, 1, "not judged"),
        ("20", 2, 1, "not judged"),
    ]


def test_an_item_that_the_current_qrels_judge_is_not_listed(browser, task, runs):
    frozen(task)
    make_qrels(task, {"A.1": {"10": 3, "11": 0, "20": 3}})

    assert items(browser.get(at(task, "audit"))) == [("21", 3, 1, "not pooled")]


def test_another_instance_of_a_pooled_formula_is_not_listed(browser, lab, team, tmp_path):
    load_small(lab, tmp_path)
    task = FormulaTaskFactory(lab=lab, slug="task2", trec_items="formula-ids")
    TopicFactory(task=task, query_id="B.1")
    make_run(team, task, {"B.1": ["7"]}, posts={"7": "1"})
    freeze_pool(task=task, choice=PoolChoice(task.protocol.pool, 1), by=None, at=NOW)
    make_run(team, task, {"B.1": ["9", "8"]}, posts={"9": "12", "8": "10"}, is_baseline=True)

    page = browser.get(at(task, "audit"))

    [row] = page.context["unpooled_items"].rows.iter_rows(named=True)
    assert (row["doc_id"], row["rank"]) == ("8", 2)
    assert f"/labs/{lab.slug}/posts/10/?formula=8" in page.content.decode()


def test_a_generated_answer_is_looked_for_in_the_pool_of_the_other_task(browser, task, team):
    third = WrittenTaskFactory(lab=task.lab, slug="task3")
    TopicFactory(task=third, query_id="A.1")
    make_run(team, third, {"A.1": ["A.1"]}, tag="gpt", answers={"A.1": "1."}, is_baseline=True)
    protocol = PoolProtocol(primary=2, alternate=2, includes_generated_answers=True)
    freeze_pool(task=task, choice=PoolChoice(protocol, 1), by=None, at=NOW)
    make_run(team, third, {"A.1": ["A.1"]}, tag="late", answers={"A.1": "2."}, is_baseline=True)

    assert items(browser.get(at(third, "audit"))) == [("late:A.1", 1, 1, "not pooled")]


def test_the_page_that_freezes_a_pool_counts_them_in_amber_and_links_to_its_plan(
    browser, task, runs
):
    page = browser.get(at(task, "freeze"), filled(primary=1))

    [row] = [row for row in page.context["ceremony"].rows if "baselines" in row.check.sentence]
    assert (row.colour, row.check.count) == ("amber", 3)
    assert items(browser.get(row.check.url))[0] == ("20", 2, 2, "not pooled")
    deep = sentences(browser.get(at(task, "freeze"), filled(primary=3, alternate=3)))
    assert not [sentence for sentence in deep if "baselines" in sentence]


def test_the_table_downloads_with_the_names_of_the_runs(browser, task, runs):
    frozen(task)

    lines = browser.get(at(task, "audit"), {"format": "tsv"}).content.decode().splitlines()

    assert lines[0] == "Topic\tItem\tBest rank\tRuns\tRanked by\tState"
    assert lines[1].startswith("A.1\t20\t2\t2\ttfidf")
