"""The pages of frozen pools."""

from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256

import pytest
from django.test import Client
from django.urls import reverse

from arqkit.protocols.presets import PoolProtocol
from arqlab.core.models import Task, User
from assessment.models import Pool, PoolInstance
from assessment.pools.selectors.choices import PoolChoice
from assessment.pools.services.freezing import freeze_pool
from submissions.services.changing import withdraw_run
from tests.assessment.factories import NOW, judge, make_pool
from tests.evaluation.factories import make_run
from tests.factories import FormulaTaskFactory, TopicFactory, WrittenTaskFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def browser(client_of: Callable[[User], Client], organizer: User) -> Client:
    return client_of(organizer)


@pytest.fixture
def pool(task, team):
    make_run(team, task, {"A.1": ["10", "11"]}, tag="early")
    return freeze_pool(task=task, choice=PoolChoice(task.protocol.pool, 1), by=None, at=NOW)


def at(task: Task, name: str, *args: int) -> str:
    return reverse(f"assessment:pool-{name}", args=[task.lab.slug, task.slug, *args])


def test_an_empty_list_shows_what_will_be_there(browser, task):
    assert "No pool yet" in browser.get(at(task, "list")).content.decode()


def test_a_run_that_brings_nothing_new_is_no_news_and_a_late_generated_answer_is(
    browser, task, team, other_team
):
    third = WrittenTaskFactory(lab=task.lab, slug="task3")
    make_run(team, task, {"A.1": ["10", "11"]}, tag="early")
    choice = PoolChoice(PoolProtocol(primary=2, alternate=2, includes_generated_answers=True), 1)
    freeze_pool(task=task, choice=choice, by=None, at=NOW)
    make_run(other_team, task, {"A.1": ["11", "10", "12"]}, tag="same")
    assert not browser.get(at(task, "list")).context["news"].is_any

    make_run(team, third, {"A.1": ["A.1"]}, tag="gpt", answers={"A.1": "Because."})

    assert [run.tag for run in browser.get(at(task, "list")).context["news"].late] == ["gpt"]


def test_a_run_that_cannot_be_pooled_is_no_news(browser, task, team):
    formulas = FormulaTaskFactory(lab=task.lab, slug="task2", trec_items="formula-ids")
    TopicFactory(task=formulas, query_id="B.1")
    make_run(team, formulas, {"B.1": ["7"]}, tag="early")
    freeze_pool(task=formulas, choice=PoolChoice(formulas.protocol.pool, 1), by=None, at=NOW)
    make_run(team, formulas, {"B.1": ["70"]}, tag="late", items="visual-ids")

    assert not browser.get(at(formulas, "list")).context["news"].late


def test_the_list_shows_late_and_withdrawn_runs(browser, pool, task, team, organizer):
    early = task.runs.get()
    make_run(team, task, {"A.1": ["50"]}, tag="tardy")
    withdraw_run(run=early, reason="A bug.", by=organizer, at=NOW)

    page = browser.get(at(task, "list"))

    assert [run.tag for run in page.context["news"].late] == ["tardy"]
    assert page.context["news"].withdrawn == ["Alpha early"]


def test_the_list_shows_how_much_is_judged_in_few_queries(
    browser, pool, task, assessor, django_assert_max_num_queries
):
    judge(assessor, PoolInstance.objects.first(), 3)

    browser.get(at(task, "list"))  # which counts the items, and keeps the counts
    with django_assert_max_num_queries(18):
        page = browser.get(at(task, "list"))

    assert [tuple(size) for _, size in page.context["pools"].rows] == [(2, 2, 1, 1)]


def test_the_page_of_a_pool_shows_what_it_was_made_of(browser, pool, task):
    text = browser.get(at(task, "detail", 1)).content.decode()

    for said in (
        pool.sha256,
        "ARQMath-3 (2022)",
        "primary 45, alternate 20",
        "Alpha",
        "early",
        "Open for judging",
    ):
        assert said in text


def test_the_page_of_a_pool_shows_the_labels_of_each_topic(browser, pool, task, assessor):
    assert "label-shares" not in browser.get(at(task, "detail", 1)).text
    instances = PoolInstance.objects.filter(item__pool=pool).order_by("pk")
    for instance, label in zip(instances, (3, 0), strict=False):
        judge(assessor, instance, label)
    response = browser.get(at(task, "detail", 1))

    topic = instances[0].item.topic.query_id
    # Of High, Medium, Low, Not relevant, System failure and Do not know
    assert response.context["label_counts"].chart.data["topics"] == [
        {"topic": topic, "counts": [1, 0, 0, 1, 0, 0]}
    ]
    assert 'data-chart="label-shares"' in response.text
    assert 'id="label-counts"' in response.text


def test_the_file_of_a_pool_has_its_hash(browser, pool, task):
    answer = browser.get(at(task, "detail", 1), {"format": "tsv"})

    assert sha256(answer.content).hexdigest() == pool.sha256
    assert (
        answer.headers["Content-Disposition"] == 'attachment; filename="arqmath-x-task1-pool-1.tsv"'
    )


def test_a_pool_is_closed_and_reopened(browser, pool, task):
    assert "Judging is closed" in browser.post(at(task, "close", 1), follow=True).content.decode()
    assert (
        "The pool is already closed."
        in browser.post(at(task, "close", 1), follow=True).content.decode()
    )
    assert (
        "Judging is open again." in browser.post(at(task, "open", 1), follow=True).content.decode()
    )


def test_a_pool_is_unfrozen_while_nobody_judged_and_its_settings_are_filled_in(browser, task, team):
    run = make_run(team, task, {"A.1": ["10", "11"]}, tag="kept")
    out = make_run(team, task, {"A.1": ["12"]}, tag="out")
    choice = PoolChoice(
        replace(task.protocol.pool, alternate=3),
        seed=17,
        without_runs={out.pk: "A bug."},
        without_topics={"A.2": "Edited."},
    )
    frozen = freeze_pool(task=task, choice=choice, by=None, at=NOW)
    assert "Unfreeze pool</button>" in browser.get(at(task, "detail", 1)).content.decode()

    page = browser.post(at(task, "discard", 1), follow=True)

    assert "Pool 1 was unfrozen" in page.content.decode()
    assert not Pool.objects.exists()
    assert [row.run for row in page.context["plan"].runs] == [run]
    again = browser.get(f"{at(task, 'freeze')}?{page.context['query']}").context["computed"]
    assert again.sha256 == frozen.sha256


def test_a_judged_pool_is_not_discarded(browser, pool, task, assessor):
    judge(assessor, PoolInstance.objects.first(), 3)
    assert "Unfreeze pool</button>" not in browser.get(at(task, "detail", 1)).content.decode()

    assert "has judgments" in browser.post(at(task, "discard", 1), follow=True).content.decode()
    assert Pool.objects.exists()


def test_a_pool_of_another_task_is_not_found(browser, pool, task):
    assert browser.get(at(task, "detail", 2)).status_code == 404


def test_a_rank_by_rank_pool_of_formulas_shows_how_it_was_made(browser, task):
    settings = {
        "method": "rank-by-rank",
        "size": 100,
        "visually_distinct": True,
        "extra_depth": 1000,
        "instances": 3,
    }
    make_pool(task, settings=settings)

    text = browser.get(at(task, "detail", 1)).content.decode()

    assert (
        "until each topic has 100 items; visually distinct formulas with at most 3 instances"
        " each, by" in text
    )
    assert "custom settings" in text
