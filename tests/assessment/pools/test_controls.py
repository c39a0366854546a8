"""A control is scored, and in no pool unless the organizers choose how, however it is built."""

import re
from io import StringIO

import pytest
from django.core.management import call_command
from django.urls import get_resolver, reverse
from django.utils import timezone

from assessment.models import Pool, PoolItem
from assessment.pools.selectors.frozen import pooled_tops
from evaluation.models import RunScore
from evaluation.services.scoring import score_waiting
from submissions.models import Run
from tests.assessment.pools.views.test_plans import filled
from tests.ceremonies import seen
from tests.evaluation.factories import make_qrels, make_run
from tests.paths import ROOT
from tests.test_access import named_addresses

pytestmark = pytest.mark.django_db
SYSTEM, CONTROL = {"10", "12"}, {"11", "13"}
CHOSEN = "baseline-alternate"


@pytest.fixture
def control(scene):
    """Return the control of a task that also has a baseline and a team's run."""
    lists = {"A.1": ["10"], "A.2": ["12"]}
    make_run(scene.team, scene.task, lists, tag="own")
    make_run(scene.other_team, scene.task, lists, tag="bm25", is_baseline=True)
    other = {"A.1": ["11"], "A.2": ["13"]}
    marks = {"is_baseline": True, "is_control": True}
    return make_run(scene.other_team, scene.task, other, tag="random", **marks)


def at(scene, name):
    return reverse(f"assessment:pool-{name}", args=[scene.lab.slug, scene.task.slug])


def by_plan(scene, browser, control, kind):
    page = browser.get(at(scene, "plan"), filled(**{f"run_{control.pk}": kind}))
    return page.context["plan"].items


def by_page(scene, browser, control, kind):
    page = browser.get(at(scene, "freeze"), filled(**{f"run_{control.pk}": kind}))
    form = filled(**{f"run_{control.pk}": kind}) | seen(page)
    browser.post(at(scene, "freeze"), form | {"expected": page.context["computed"].sha256})
    return PoolItem.objects.filter(pool__task=scene.task).count()


def by_command(scene, browser, control, kind):
    words = ["--as-alternate", "random"] if kind else []
    out = StringIO()
    call_command(
        "build_pool", str(scene.task), *words, "--yes", "--acknowledge", stdout=out, stderr=out
    )
    return PoolItem.objects.filter(pool__task=scene.task).count()


def by_supplement(scene, browser, control, kind):
    """Return the items of a pool without the control, and of a supplement."""
    out = {"stdout": StringIO(), "stderr": StringIO()}
    call_command("build_pool", str(scene.task), "--yes", "--acknowledge", **out)
    lists = {"A.1": ["14"]}
    make_run(scene.team, scene.task, lists, tag="late")
    words = ["--as-alternate", "random"] if kind else []
    again = ["--supplement", "--reason", "A late run", "--yes", "--acknowledge"]
    call_command("build_pool", str(scene.task), *again, *words, **out)
    return PoolItem.objects.filter(pool__task=scene.task).count() - 1


@pytest.mark.parametrize("build", [by_plan, by_page, by_command, by_supplement])
@pytest.mark.parametrize(("kind", "items"), [("", 2), (CHOSEN, 4)])
def test_a_control_is_pooled_only_if_it_is_chosen(scene, client_of, control, build, kind, items):
    assert build(scene, client_of(scene.organizer), control, kind) == items


def test_each_address_that_plans_or_freezes_a_pool_is_tried_here():
    names = named_addresses(get_resolver().url_patterns)
    pools = [name for name in names if re.match("assessment:(api-)?pool-", name)]

    own = {name.rpartition("pool-")[2] for name in pools}
    assert own - {"list", "detail", "runs", "close", "open", "discard", "audit"} == {
        "plan",
        "freeze",
    }


def test_only_the_owner_of_the_rule_reads_all_valid_runs_for_a_pool():
    asks = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "assessment").rglob("*.py")
        if re.search(r"\bvalid_runs\(", path.read_text())
    }

    # The last one has the runs of a task without a pool, and tries this in a test below.
    assert asks == {"assessment/pools/selectors/choices.py", "assessment/pools/selectors/frozen.py"}


def test_the_page_says_why_and_offers_it(scene, client_of, control):
    page = client_of(scene.organizer).get(at(scene, "plan"))

    assert "random (control)" in page.text
    assert '<option value="" selected>not pooled</option>' in page.text


def test_a_control_is_scored_and_its_items_are_no_gap_of_the_pool(scene, client_of, control):
    make_qrels(scene.task, {"A.1": {"10": 3}, "A.2": {"12": 2}})
    score_waiting(at=timezone.now())
    audit = client_of(scene.organizer).get(at(scene, "audit"))

    assert RunScore.objects.filter(run=control).exists()
    assert control not in audit.context["runs"]
    assert control not in {run for top in pooled_tops(scene.task) for run in top.runs}


def test_organizers_mark_a_run_as_a_control_and_teams_do_not(scene, client_of):
    run = make_run(scene.team, scene.task, {"A.1": ["10"]}, tag="bag")
    names = {"lab": scene.lab.slug, "task": scene.task.slug, "pk": run.pk}
    path = f"/api/v1/labs/{names['lab']}/tasks/{names['task']}/runs/{run.pk}/"
    change = {"data": {"is_control": True}, "content_type": "application/json"}

    refused = client_of(scene.member).patch(path, **change)
    changed = client_of(scene.organizer).patch(path, **change)

    assert (refused.status_code >= 400, changed.json()["is_control"]) == (True, True)
    assert Run.objects.get(pk=run.pk).is_control
    assert not Pool.objects.exists()
