"""Topics that may be dropped: the forecast, and what setting a topic aside changes."""

import re

import pytest
from django.urls import reverse
from scipy.stats import betabinom

from arqkit.judgments.completion import LAB_PRIORS
from arqkit.records import TaskKind
from arqlab.core.models import AuditEvent, Topic
from assessment.judging.selectors.items import TopicPath
from assessment.judging.selectors.own_work import task_judging
from assessment.judging.selectors.places import place_of
from assessment.judging.selectors.topic_work import next_topic
from assessment.models import Judgment, PoolItem, SetAsideTopic
from tests.assessment.factories import assign, judge, make_pool, make_written_pool
from tests.assessment.judging.desk import Desk
from tests.assessment.rounds.factories import round_of, vote

pytestmark = pytest.mark.django_db
POSTS = [str(number) for number in range(10, 40)]


@pytest.fixture
def organizing(client_of, organizer):
    return client_of(organizer)


@pytest.fixture
def pool(task):
    return make_pool(task, {"A.1": POSTS, "A.2": POSTS})


def judge_topic(user, query_id: str, *labels: int) -> None:
    """Judge the first items of a topic."""
    items = PoolItem.official.filter(topic__query_id=query_id).order_by("position")
    for item, label in zip(items, labels, strict=False):
        judge(user, item.instances.get(), label)


def do(client, action: str, *topics: str) -> str:
    path = reverse("assessment:assignment-list", args=["arqmath-x", "task1"])
    return client.post(path, {"topics": topics, "action": action}, follow=True).text


def forecasts(client) -> dict[str, list[str]]:
    """Return the cells of the table of forecasts by topic."""
    page = client.get(reverse("assessment:assignment-list", args=["arqmath-x", "task1"])).text
    [table] = re.findall('<table[^>]*id="forecasts".*?</table>', page, re.DOTALL) or [""]
    rows = [
        [" ".join(re.sub("<[^>]*>", " ", cell).split()) for cell in re.split("</t[hd]>", part)[:-1]]
        for part in table.split("<tr>")[2:]
    ]
    return {row[0]: row[3:] for row in rows}


def after(user, query_id: str) -> Topic | None:
    """Return the topic that follows a topic on the judging page."""
    place = place_of(user, TopicPath("arqmath-x", "task1", query_id))
    assert place is not None
    return next_topic(place, user)


def home(client) -> str:
    text = client.get(reverse("assessment:judging-home", args=["arqmath-x"])).text
    return " ".join(re.sub("<[^>]*>", " ", text).split())


def test_a_topic_without_enough_relevant_items_shows_its_forecast(organizing, task, assessor, pool):
    judge_topic(assessor, "A.1", *[0] * 9, 3)  # one relevant item in ten
    alpha, beta = LAB_PRIORS[TaskKind.ANSWERS]
    kept = 1 - betabinom.pmf(0, 20, alpha + 1, beta + 9)

    assert forecasts(organizing) == {
        "A.1": ["Unassigned", "30", "10", "1", f"{100 * kept:.1f}%", "20", "0.1"]
    }


def test_topics_that_are_kept_finished_or_not_started_have_no_forecast(
    organizing, task, assessor, pool
):
    judge_topic(assessor, "A.1", 2, 3)

    assert forecasts(organizing) == {}
    judge_topic(assessor, "A.2", *[0] * 30)
    assert forecasts(organizing) == {}


def test_generated_answers_in_the_pool_do_not_keep_a_topic(organizing, task, assessor, pool):
    make_written_pool(task, {"A.1": {"R:A.1": "An answer.", "S:A.1": "Another."}})
    judge_topic(assessor, "A.1", 0)
    for item in PoolItem.official.filter(kind=PoolItem.Kind.ANSWERS):
        judge(assessor, item.instances.get(), 3)

    assert forecasts(organizing)["A.1"][1:4] == ["30", "1", "0"]


def test_adjudicated_labels_count_and_those_of_other_rounds_do_not(
    organizing, organizer, task, assessor, pool
):
    judge_topic(assessor, "A.1", 3, 0)
    second = round_of(task, "second", organizer, topics=["A.1"])
    for doc_id in POSTS[:4]:
        vote(second, organizer, doc_id, 3)
    assert forecasts(organizing)["A.1"][1:4] == ["30", "2", "1"]

    decided = round_of(task, "adjudication", organizer, topics=["A.1"])
    vote(decided, organizer, POSTS[0], 1)
    assert forecasts(organizing)["A.1"][1:4] == ["30", "2", "0"]
    vote(decided, organizer, POSTS[1], 2)
    assert forecasts(organizing)["A.1"][1:4] == ["30", "2", "1"]


def test_a_lab_that_keeps_all_topics_has_no_forecasts(organizing, task, assessor, pool):
    task.overrides = {"min_relevant": 0}
    task.save()
    judge_topic(assessor, "A.1", 0)

    assert forecasts(organizing) == {}
    assert "Cannot set aside A.1." in do(organizing, "set-aside", "A.1")


def test_a_topic_set_aside_leaves_the_work_but_keeps_items_and_labels(
    organizing, client_of, task, assessor, pool
):
    assign(assessor, *task.topics.all())
    judge_topic(assessor, "A.1", 0, 0, 1)

    assert "1 topic set aside. Items and labels are kept." in do(organizing, "set-aside", "A.1")

    assert "30 items left" in home(client_of(assessor))  # those of A.2
    assert "A.1 The title of A.1 Set aside No need to judge it" in home(client_of(assessor))
    assert forecasts(organizing)["A.1"][0] == "Set aside"
    assert Judgment.objects.filter(is_current=True).count() == 3
    assert PoolItem.objects.filter(topic__query_id="A.1", done_at=None).count() == 27


def test_a_label_that_was_under_way_still_counts(organizing, task, assessor, pool):
    assign(assessor, *task.topics.all())
    judge_topic(assessor, "A.1", 0)
    desk = Desk(assessor)
    item = desk.next()
    do(organizing, "set-aside", "A.1")

    assert desk.submit(item, 2)["saved"][0]["counts"] is True


def test_setting_aside_is_undone(organizing, client_of, task, assessor, pool):
    assign(assessor, *task.topics.all())
    judge_topic(assessor, "A.1", 0)
    do(organizing, "set-aside", "A.1")

    assert "Judging of 1 topic resumed." in do(organizing, "resume", "A.1")
    assert "59 items left" in home(client_of(assessor))
    assert "Judging of 0 topics resumed." in do(organizing, "resume", "A.1")
    do(organizing, "set-aside", "A.1")
    assert SetAsideTopic.objects.filter(ended_at=None).count() == 1


def test_a_topic_set_aside_before_it_was_started_can_be_resumed(organizing, task, pool):
    do(organizing, "set-aside", "A.2")

    assert forecasts(organizing)["A.2"][:3] == ["Set aside", "30", "0"]
    do(organizing, "resume", "A.2")
    assert forecasts(organizing) == {}


def test_the_audit_log_has_who_and_the_probability(organizing, organizer, task, assessor, pool):
    judge_topic(assessor, "A.1", *[0] * 10)
    do(organizing, "set-aside", "A.1")
    do(organizing, "set-aside", "A.1")
    do(organizing, "resume", "A.1")

    events = AuditEvent.objects.filter(actor=organizer).order_by("pk")
    alpha, beta = LAB_PRIORS[TaskKind.ANSWERS]
    kept = betabinom.sf(1, 20, alpha, beta + 10)
    assert [(event.verb, event.detail) for event in events] == [
        ("topics.set-aside", {"kept": {"A.1": pytest.approx(kept, abs=1e-4)}}),
        ("topics.resume", {"topics": ["A.1"]}),
    ]


def test_a_topic_that_is_kept_cannot_be_set_aside(organizing, task, assessor, pool):
    judge_topic(assessor, "A.1", 2, 3)

    assert "Cannot set aside A.1. Only a topic" in do(organizing, "set-aside", "A.1", "A.2")
    assert not SetAsideTopic.objects.exists()


def test_a_topic_set_aside_is_neither_next_nor_unassigned(organizing, task, lab, assessor, pool):
    assert task_judging([lab])[task.pk].unassigned == 2
    do(organizing, "set-aside", "A.2")

    assert task_judging([lab])[task.pk].unassigned == 1
    assign(assessor, *Topic.objects.filter(task=task))
    assert after(assessor, "A.1") is None
    assert after(assessor, "A.2") == task.topics.get(query_id="A.1")


def test_assessors_see_no_forecast(client_of, task, assessor, pool):
    assign(assessor, *task.topics.all())
    judge_topic(assessor, "A.1", 0, 0)
    path = reverse("assessment:assignment-list", args=["arqmath-x", "task1"])

    assert client_of(assessor).get(path).status_code == 404
    assert "relevant" not in home(client_of(assessor)).lower()
