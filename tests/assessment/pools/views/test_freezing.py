"""The page that freezes a pool: oddities, runs and topics left out by hand, one audit entry."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from arqkit.formats.runs.formats import TASK3_IDS
from arqlab.core.models import AuditEvent, Task
from assessment.models import Pool
from assessment.pools.selectors.news import pool_news
from assessment.qrels.services.versions import choose_current_qrels
from collection.models import Post
from tests.assessment.pools.views.test_plans import at, filled, shown
from tests.ceremonies import sentences
from tests.collection.factories import load_small
from tests.collection.threads import add_answer, add_question, make_collection
from tests.evaluation.factories import NOW, make_qrels, make_run
from tests.factories import FormulaTaskFactory, TopicFactory, WrittenTaskFactory


@pytest.fixture
def browser(client_of, organizer):
    return client_of(organizer)


@pytest.fixture(autouse=True)
def runs(task, team, other_team):
    """Submit a primary run of each team to a closed task: nothing is odd."""
    Task.objects.filter(pk=task.pk).update(deadline=timezone.now() - timedelta(days=1))
    collection, made = make_collection(task.lab), {}
    add_question(collection)
    for item in ("10", "11", "20"):
        add_answer(collection, item)
    for one, tag, item in ((team, "good", "10"), (other_team, "bad", "11")):
        lists = {"A.1": [item], "A.2": ["20"]}
        made[tag] = make_run(one, task, lists, tag=tag, sha256=tag, is_primary=True)
    return made


def test_the_page_lists_everything_odd(browser, team, task):
    assert sentences(browser.get(at(task, "freeze"), filled())) == []
    Task.objects.filter(pk=task.pk).update(deadline=None)
    make_run(team, task, {"A.1": ["10"]}, tag="new", sha256="good")

    assert sentences(browser.get(at(task, "freeze"), filled())) == [
        "Submission is open and has no deadline.",
        "1 group of runs is byte-identical: Alpha good = Alpha new.",
    ]


UNREADABLE = [
    "1 of 3 items has no text. Assessors can only report them.",
    "1 of 3 items has no thread: the question is not in the collection.",
    "1 of 3 items has a text without the formula to judge, so none is typeset and highlighted.",
]


def test_items_that_assessors_could_not_read_are_counted_wherever_a_pool_is_frozen(
    browser, lab, team, tmp_path
):
    load_small(lab, tmp_path)
    Post.objects.filter(post_id="10").update(thread_id="77")
    formulas = FormulaTaskFactory(lab=lab, slug="task2", trec_items="formula-ids")
    Task.objects.filter(pk=formulas.pk).update(closed_at=timezone.now())
    TopicFactory(task=formulas, query_id="B.1")
    posts = {"8": "10", "9": "12", "99": "555"}
    make_run(team, formulas, {"B.1": ["8", "9", "99"]}, posts=posts, is_primary=True)

    assert sentences(browser.get(at(formulas, "freeze"))) == UNREADABLE
    printed = StringIO()
    with pytest.raises(CommandError, match="Nothing was changed"):
        call_command("build_pool", "arqmath-x/task2", stderr=printed)
    assert printed.getvalue().removeprefix("Red: ").splitlines() == UNREADABLE


def test_answers_of_task_3_without_a_text_are_counted(browser, lab, team, task):
    third = WrittenTaskFactory(lab=lab, slug="task3")
    TopicFactory(task=third, query_id="A.1")
    Task.objects.filter(pk=third.pk).update(closed_at=timezone.now())
    make_run(team, third, {"A.1": ["A.1"]}, answers={"A.1": " "}, is_primary=True)

    assert sentences(browser.get(at(third, "freeze"))) == [
        "1 of 1 item has no text. Assessors can only report them."
    ]


def test_runs_that_cannot_be_pooled_are_listed(browser, lab, team):
    formulas = FormulaTaskFactory(lab=lab, slug="task2")
    TopicFactory(task=formulas, query_id="B.1")
    make_run(team, formulas, {"B.1": ["70"]}, tag="visual", report={"items": "visual-ids"})

    page = browser.get(at(formulas, "freeze"))

    assert "1 valid run with visual ids cannot be pooled: Alpha visual." in sentences(page)


def test_a_mixed_pool_lists_what_is_odd_in_each_of_its_tasks(browser, lab, team, task):
    third = WrittenTaskFactory(lab=lab, slug="task3")
    make_run(team, third, {"A.1": ["A.1"]}, tag="bare", report={"format": TASK3_IDS.format})
    make_run(team, task, {"A.1": ["10"]}, tag="new", sha256="good")
    identical = "1 group of runs is byte-identical: Alpha good = Alpha new."

    assert sentences(browser.get(at(task, "freeze"), filled())) == [identical]
    page = browser.get(at(task, "freeze"), filled(includes_generated_answers="on"))

    assert sentences(page) == [
        f"Answer retrieval: {identical}",
        "Generated answers: Submission is open and has no deadline.",
        "Generated answers: 1 valid run without texts cannot be pooled: Alpha bare.",
        "Generated answers: 1 team has valid runs but no primary run: Alpha.",
    ]
    assert page.context["ceremony"].oddities[1].url == "/labs/arqmath-x/tasks/task3/close/"


def test_a_formula_pool_that_extends_relevant_posts_wants_current_qrels(browser, lab, task):
    formulas = FormulaTaskFactory(lab=lab, slug="task2", deadline=NOW)
    page = at(formulas, "freeze")
    made = make_qrels(task, is_current=False)
    fields = filled(extra_depth=100, instances=5, instance_policy="runs", visually_distinct="on")

    assert sentences(browser.get(page, fields)) == [
        "No version of the qrels of Answer retrieval is current, so its relevant posts are those "
        "of the judgments."
    ]
    choose_current_qrels(qrel_set=made, by=None)
    assert sentences(browser.get(page, fields)) == []


def test_nothing_is_frozen_by_somebody_who_has_not_seen_the_list(browser, task):
    seen = shown(browser.get(at(task, "freeze"), filled()))

    answer = browser.post(at(task, "freeze"), filled(expected=seen["expected"]))

    assert answer.status_code == 422
    assert "This list has changed" in answer.content.decode()
    assert not Pool.objects.exists()


def test_a_second_click_freezes_nothing(browser, task):
    seen = shown(browser.get(at(task, "freeze"), filled()))
    for _ in range(2):
        answer = browser.post(at(task, "freeze"), filled(**seen))

    assert answer.status_code == 422
    assert Pool.objects.count() == 1
    assert AuditEvent.objects.filter(verb="pool.freeze").count() == 1


def test_runs_and_topics_are_left_out_with_reasons_that_the_pool_records(browser, task, runs):
    reasons = {f"runs-{runs['bad'].pk}": "A nonsense run.", "topics-A.2": "The title was edited."}
    preview = browser.post(at(task, "freeze"), filled(preview="yes", **reasons))
    assert preview.status_code == 200
    assert preview.context["computed"].items == 1
    assert not Pool.objects.exists()

    browser.post(at(task, "freeze"), filled(**reasons, **shown(preview)))

    pool = Pool.objects.get()
    assert list(pool.items.values_list("topic__query_id", "item")) == [("A.1", "10")]
    assert pool.left_out == {
        "runs": [
            {"run": runs["bad"].pk, "team": "Beta", "tag": "bad", "reason": "A nonsense run."}
        ],
        "topics": [{"topic": "A.2", "reason": "The title was edited."}],
    }
    assert AuditEvent.objects.get(verb="pool.freeze").detail["left_out"] == pool.left_out
    page = browser.get(at(task, "detail", 1)).content.decode()
    assert "A nonsense run." in page
    assert "The title was edited." in page
    assert pool_news(task, [pool]).late == []


def test_reasons_that_were_not_previewed_are_shown_before_they_are_frozen(browser, task):
    seen = shown(browser.get(at(task, "freeze"), filled()))

    answer = browser.post(at(task, "freeze"), filled(**seen, **{"topics-A.2": "Edited."}))

    assert "it now has 2 items. Check the figures again" in answer.content.decode()
    assert not Pool.objects.exists()


def test_a_reason_that_is_too_long_is_refused(browser, task):
    answer = browser.post(at(task, "freeze"), filled(**{"topics-A.2": "x" * 301}))

    assert answer.status_code == 422
    assert "Shorten the reason for A.2 to 300 characters." in answer.content.decode()
    assert not Pool.objects.exists()


def test_the_planner_keeps_what_is_left_out(browser, task, runs):
    reasons = {f"runs-{runs['bad'].pk}": "A bug.", "topics-A.2": "Edited."}

    page = browser.get(at(task, "plan"), filled(**reasons))

    html = page.content.decode()
    assert "Beta bad is not pooled. You left it out: A bug." in html
    assert "Topic A.2 is not pooled. You left it out: Edited." in html
    assert f'name="runs-{runs["bad"].pk}" value="A bug."' in html
    assert page.context["plan"].items == 1


def test_a_run_of_task_3_is_left_out_of_the_mixed_pool(browser, lab, task, team, other_team):
    written = WrittenTaskFactory(lab=lab, slug="task3")
    TopicFactory(task=written, query_id="A.1")
    for one, tag in ((team, "kept"), (other_team, "nonsense")):
        make_run(one, written, {"A.1": ["answer"]}, tag=tag, answers={"A.1": f"By {tag}."})
    nonsense = written.runs.get(tag="nonsense")
    mixed = {"includes_generated_answers": "on", f"runs-{nonsense.pk}": "Nonsense."}

    computed = browser.get(at(task, "freeze"), filled(**mixed)).context["computed"]

    assert list(computed.texts.values()) == ["By kept."]
