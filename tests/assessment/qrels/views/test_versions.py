"""The pages of a task's qrels."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from assessment.models import PoolInstance, QrelSet
from assessment.qrels.services.versions import QrelsChoice, freeze_qrels
from tests.assessment.factories import NOW, judge, make_formula_pool, make_pool
from tests.ceremonies import confirmed
from tests.evaluation.factories import make_qrels
from tests.factories import FormulaTaskFactory, TopicFactory

pytestmark = pytest.mark.django_db
LIST = "/labs/arqmath-x/tasks/task1/qrels/"


@pytest.fixture
def browser(client_of, organizer):
    return client_of(organizer)


@pytest.fixture
def judged(task, assessor) -> None:
    make_pool(task)
    for doc_id, label in {"10": 3, "11": 2, "12": 6}.items():
        judge(assessor, PoolInstance.objects.get(item__topic__query_id="A.1", doc_id=doc_id), label)


def test_the_draft_shows_how_far_judging_is_and_why_topics_are_left_out(browser, judged):
    page = browser.get(LIST).content.decode()

    assert "3 of 4 pool items have a label." in page
    assert "1 of 2 topics is left out so far." in " ".join(page.split())
    assert "No item of this topic has a label." in page
    assert "33.3%" in page


def test_the_labels_of_each_judged_topic_are_a_chart(browser, judged):
    draft = browser.get(LIST).context["topics"].chart.data
    version = confirmed(browser, f"{LIST}freeze/", name="official").context["topics"]

    assert [label["word"] for label in draft["labels"]][:2] == ["High", "Medium"]
    # Of High, Medium, Low, Not relevant, System failure and Do not know. A.2 has no label.
    assert draft["topics"] == [{"topic": "A.1", "counts": [1, 1, 0, 0, 0, 1]}]
    assert version.chart.data["topics"] == [{"topic": "A.1", "counts": [1, 1, 0, 0, 0, 0]}]


def test_without_labels_there_is_no_chart(browser, task):
    make_pool(task)

    assert "data-chart" not in browser.get(LIST).text


def test_the_draft_is_downloaded_official_or_complete(browser, judged):
    assert browser.get(f"{LIST}draft/").content == b"A.1\t0\t10\t3\nA.1\t0\t11\t2\n"
    answer = browser.get(f"{LIST}draft/?complete=1")
    assert answer.content.endswith(b"A.1\t0\t12\t6\n")
    assert 'filename="qrels-arqmath-x-task1-draft.tsv"' in answer["Content-Disposition"]
    assert browser.get(f"{LIST}draft/?level=visual").status_code == 404


def test_a_version_is_frozen_and_shown(browser, judged, organizer):
    answer = confirmed(browser, f"{LIST}freeze/", name="official")

    page = answer.content.decode()
    made = QrelSet.objects.get()
    assert answer.redirect_chain == [(f"{LIST}1/", 302)]
    assert "official is frozen as version 1" in page
    assert made.sha256 in page
    assert organizer.username in page
    assert "No item of this topic has a label." in page


def test_the_list_of_versions_reads_no_line_of_them(browser, judged, task, organizer):
    made = freeze_qrels(task=task, choice=QrelsChoice("official"), by=organizer, at=NOW)
    assert (made.lines, made.topics) == (2, 1)

    with CaptureQueriesContext(connection) as queries:
        browser.get(LIST)
    assert [each["sql"] for each in queries if '"assessment_qrel"' in each["sql"]] == []


@pytest.mark.parametrize(
    ("form", "told"),
    [
        ({"name": ""}, "Enter a name for the version."),
        ({"name": "v" * 51}, "Enter a name of at most 50 characters."),
        ({"name": "Version 1"}, "Enter a name with letters, digits, hyphens and underscores only."),
        ({"name": "v1"}, "versions never change. Use another name."),
    ],
)
def test_a_name_that_cannot_be_is_refused_with_a_sentence(browser, judged, task, form, told):
    make_qrels(task)

    assert told in confirmed(browser, f"{LIST}freeze/", **form).content.decode()
    assert QrelSet.objects.count() == 1


def test_formulas_are_frozen_at_the_level_that_is_chosen(browser, lab, assessor):
    task = FormulaTaskFactory(lab=lab, slug="task2")
    TopicFactory(task=task, query_id="B.1")
    make_formula_pool(task, {"B.1": {"70": [("7", "1"), ("9", "12")], "71": [("8", "10")]}})
    for instance in PoolInstance.objects.order_by("pk"):
        judge(assessor, instance, 3)
    address = LIST.replace("task1", "task2")

    confirmed(browser, f"{address}freeze/", name="visual", level="visual", complete="on")

    made = QrelSet.objects.get()
    assert (made.items, made.is_complete, made.qrels.count()) == ("visual-ids", True, 2)
    assert browser.get(f"{address}1/?format=tsv").content == b"B.1\t0\t70\t3\nB.1\t0\t71\t3\n"


def test_another_version_is_made_current(browser, task):
    make_qrels(task)
    second = make_qrels(task)

    answer = browser.post(f"{LIST}2/current/", follow=True)

    assert "v2 is now the current version" in answer.content.decode()
    assert QrelSet.objects.get(is_current=True) == second


def test_without_a_pool_the_page_shows_where_qrels_come_from(browser, task):
    make_qrels(task)

    page = browser.get(LIST).content.decode()
    assert "Nothing to judge yet" in page
    assert "v1" in page


def test_the_list_takes_as_many_queries_for_three_versions_as_for_one(
    browser, judged, task, organizer, django_assert_max_num_queries
):
    for name in "abc":
        freeze_qrels(task=task, choice=QrelsChoice(name), by=organizer, at=NOW)

    browser.get(LIST)
    with django_assert_max_num_queries(15):
        browser.get(LIST)


def test_a_large_draft_may_be_a_minute_old_and_a_frozen_version_has_all_labels(
    browser, judged, task, assessor, organizer, monkeypatch
):
    assert "the labels until" not in browser.get(LIST).text
    old = browser.get(f"{LIST}draft/").content
    monkeypatch.setattr("arqlab.core.caches.AT_ONCE", 0)
    judge(assessor, PoolInstance.objects.get(item__topic__query_id="A.2"), 3)

    assert "These are the labels until" in browser.get(LIST).text
    assert browser.get(f"{LIST}draft/").content == old
    frozen = freeze_qrels(task=task, choice=QrelsChoice("all"), by=organizer, at=NOW)
    assert [(row["topic"], row["relevant"]) for row in frozen.dropped] == [("A.2", 1)]
