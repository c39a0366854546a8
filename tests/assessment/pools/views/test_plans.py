"""The planner through its door: numbers that follow the settings, sentences for what cannot be, and
freezing.
"""

from collections.abc import Callable
from dataclasses import asdict
from decimal import Decimal
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from arqkit.protocols.presets import PoolProtocol
from arqlab.core.models import Task, Topic, User
from assessment.models import PayRule, Pool
from tests.assessment.factories import make_pool
from tests.ceremonies import seen
from tests.evaluation.factories import make_run
from tests.factories import FormulaTaskFactory, TopicFactory, WrittenTaskFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def browser(client_of: Callable[[User], Client], organizer: User) -> Client:
    return client_of(organizer)


@pytest.fixture
def runs(task, team, other_team):
    make_run(team, task, {"A.1": ["10", "11", "12"], "A.2": ["12"]}, tag="deep", is_primary=True)
    return make_run(other_team, task, {"A.1": ["12", "13"]}, tag="tfidf", is_baseline=True)


def at(task: Task, name: str, *args: int) -> str:
    return reverse(f"assessment:pool-{name}", args=[task.lab.slug, task.slug, *args])


def filled(**changes: Any) -> dict[str, Any]:
    """Return a form as a browser sends it: an unchecked box is not in it."""
    fields = {
        "method": "depth",
        "primary": 2,
        "alternate": 1,
        "manual": "",
        "size": 0,
        "baselines": "marked",
    }
    return fields | {"seed": 7, "seconds": 36, "wage": 10} | changes


def shown(page: HttpResponse) -> dict[str, str]:
    """Return the fields by which a page shows what its user saw: the pool and the oddities."""
    return seen(page) | {"expected": page.context["computed"].sha256}


def test_the_planner_opens_with_the_settings_of_the_lab(browser, task, runs):
    page = browser.get(at(task, "plan"))

    assert page.context["form"]["primary"].value() == 45
    assert [slug for slug, _, is_chosen in page.context["presets"] if is_chosen] == ["arqmath-3"]
    assert page.context["plan"].items == 5


def test_the_overlap_of_runs_is_a_heat_map_and_a_table(browser, task, runs):
    page = browser.get(at(task, "plan"))

    # Of the four items of "deep", "tfidf" has one; it has two items itself.
    assert page.context["plan_overlap"].chart.data == {
        "runs": ["tfidf (baseline)", "Alpha deep"],
        "percents": [[100, 50], [25, 100]],
    }
    assert 'data-chart="run-overlap"' in page.text
    assert 'id="plan-overlap"' in page.text


def test_a_preset_fills_the_settings_in(browser, task, runs):
    page = browser.get(at(task, "plan"), {"preset": "arqmath-2"})

    assert [page.context["form"][name].value() for name in ("primary", "alternate", "manual")] == [
        45,
        15,
        45,
    ]


def test_a_preset_leaves_the_seed_and_the_costs_as_they_are(browser, task, runs):
    page = browser.get(
        at(task, "plan"), filled(primary=3, seed=11, wage=12) | {"preset": "arqmath-2"}
    )

    form, cost = page.context["form"], page.context["cost_form"]
    assert [form[name].value() for name in ("primary", "seed")] == [45, "11"]
    assert [cost[name].value() for name in ("seconds", "wage")] == ["36", "12"]
    assert "?preset=arqmath-1&amp;seed=11&amp;seconds=36&amp;wage=12" in page.content.decode()


def test_the_planner_computes_in_the_currency_and_at_the_rate_of_the_lab(browser, task, runs):
    PayRule.objects.create(lab=task.lab, hourly_rate="17.50", currency="CZK")
    page = browser.get(at(task, "plan"))

    assert page.context["cost_form"]["wage"].value() == Decimal("17.50")
    assert "<dt>Cost, CZK</dt>" in page.text


def test_the_numbers_follow_the_settings(browser, task, runs):
    page = browser.get(at(task, "plan"), filled(**{f"run_{runs.pk}": "baseline-alternate"}))

    plan = page.context["plan"]
    assert (plan.items, page.context["plan_cost"].hours, page.context["plan_cost"].money) == (
        4,
        0.04,
        0.4,
    )
    assert [(row.items, row.unique) for row in plan.runs] == [(1, 1), (3, 3)]
    assert "the top 1 item of every run and topic is judged" in page.content.decode()


def test_an_instance_for_which_runs_name_two_posts_is_one_label(browser, lab, team, other_team):
    formulas = FormulaTaskFactory(lab=lab, slug="task2", trec_items="formula-ids")
    TopicFactory(task=formulas, query_id="B.1")
    make_run(team, formulas, {"B.1": ["7"]}, posts={"7": "1"})
    make_run(other_team, formulas, {"B.1": ["7"]}, posts={"7": "2"})
    threads = {"visually_distinct": "on", "instances": 5, "instance_policy": "threads"}

    page = browser.get(at(formulas, "freeze"), filled(**threads))

    assert page.context["plan"].labels == page.context["computed"].label_count == 1


def test_topics_that_are_gone_are_not_planned(browser, task, runs, team):
    Topic.objects.filter(task=task, query_id="A.2").delete()

    page = browser.get(at(task, "plan"), filled(primary=3))

    assert [topic.query_id for topic in page.context["plan"].topics] == ["A.1"]
    assert (page.context["plan"].items, page.context["plan_cost"].hours) == (3, 0.03)
    assert page.context["plan"].runs[1].items == 3


def test_a_baseline_is_pooled_as_chosen_here(browser, task, runs):
    page = browser.get(at(task, "plan"), filled(**{f"run_{runs.pk}": "baseline-primary"}))

    assert page.context["plan"].items == 5


def test_htmx_gets_the_plan_alone(browser, task, runs):
    answer = browser.get(
        at(task, "plan"), filled(), headers={"HX-Request": "true"}
    ).content.decode()

    assert answer.lstrip().startswith("<section")
    assert "<form" not in answer


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"primary": "-1"}, "Enter a whole number from 0 to 1000 for primary runs."),
        ({"primary": "many"}, "Enter a whole number from 0 to 1000 for primary runs."),
        ({"seed": "9" * 30}, "for seed."),
        (
            {"method": "rank-by-rank"},
            "Enter a whole number of at least 1 for the minimum items per topic",
        ),
        ({"wage": "-5"}, "Wage per hour"),
        ({"method": "guess"}, "Choose a method"),
    ],
)
def test_invalid_settings_are_reported_beside_the_plan(browser, task, runs, changes, said):
    page = browser.get(at(task, "plan"), filled(**changes))

    assert page.status_code == 200
    assert said in page.content.decode()
    assert "plan" not in page.context or not page.context.get("plan")


@pytest.mark.parametrize(
    ("depth", "said"),
    [(0, "These settings select no items."), (None, "When the task has a valid run")],
)
def test_an_empty_plan_shows_what_will_be_there(browser, task, team, depth, said):
    if depth is not None:
        make_run(team, task)

    assert said in browser.get(at(task, "plan"), filled(primary=0, alternate=0)).content.decode()


def test_freezing_shows_the_numbers_once_more_and_then_freezes_these(
    browser, task, runs, organizer
):
    asked = browser.get(at(task, "freeze"), filled())
    assert asked.context["computed"].items == 4
    assert not Pool.objects.exists()

    answer = browser.post(at(task, "freeze"), filled(**shown(asked)))

    pool = Pool.objects.get()
    assert answer.headers["Location"] == at(task, "detail", 1)
    assert (pool.sha256, pool.seed, pool.frozen_by) == (
        asked.context["computed"].sha256,
        7,
        organizer,
    )


def test_a_pool_that_would_be_another_one_than_was_shown_is_not_frozen(browser, task, runs, team):
    seen = shown(browser.get(at(task, "freeze"), filled()))
    make_run(team, task, {"A.1": ["50"]})

    answer = browser.post(at(task, "freeze"), filled(**seen))

    assert answer.status_code == 422
    assert "has changed since you opened" in answer.content.decode()
    assert "Enter a reason" not in answer.content.decode()
    assert not Pool.objects.exists()


def test_a_supplement_is_planned_with_the_settings_of_the_last_pool(browser, task, runs):
    make_pool(task, {"A.1": ["10"]})
    assert browser.get(at(task, "plan")).context["form"]["primary"].value() == 10

    as_alternate = {"run": runs.pk, "kind": "baseline-alternate", "team": "", "tag": ""}
    make_pool(
        task,
        {"A.1": ["12"]},
        settings=asdict(PoolProtocol(primary=20, alternate=1)),
        runs=[as_alternate],
    )
    page = browser.get(at(task, "plan"))

    assert "Plan supplement" in page.content.decode()
    assert page.context["form"]["primary"].value() == 20
    assert page.context["form"][f"run_{runs.pk}"].value() == "baseline-alternate"


def test_a_supplement_wants_a_reason(browser, task, runs):
    make_pool(task, {"A.1": ["10"]})

    seen = shown(browser.get(at(task, "freeze"), filled()))
    without = browser.post(at(task, "freeze"), filled(reason=" ", **seen))
    assert without.status_code == 422
    assert "Enter a reason for the supplement." in without.content.decode()

    browser.post(at(task, "freeze"), filled(reason="A late run.", **seen))
    assert Pool.objects.get(number=2).reason == "A late run."


def test_a_known_item_has_no_pool_to_freeze(browser, task, runs):
    task.lab.protocol = "ntcir-11"
    task.lab.save()
    Task.objects.filter(pk=task.pk).update(kind="formulas")

    answer = browser.get(at(task, "plan"))

    assert answer.status_code == 200
    assert "Known-item tasks have no pool." in answer.content.decode()


def test_answers_of_task_3_are_offered_only_where_the_lab_has_that_task(browser, lab, task, runs):
    assert "Include all answers of Task 3" not in browser.get(at(task, "plan")).text

    WrittenTaskFactory(lab=lab, slug="task3")

    assert "Include all answers of Task 3" in browser.get(at(task, "plan")).text
