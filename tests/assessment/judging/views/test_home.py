"""An assessor sees on one page what to go on with; and on the pages of lab and task, too."""

from __future__ import annotations

import pytest
from django.urls import reverse

from assessment.guidelines.services import write_guideline
from assessment.models import Pool, PoolItem
from tests.assessment.factories import NOW, assign, judge, make_pool
from tests.factories import TopicFactory

pytestmark = pytest.mark.django_db
HOME = "/labs/arqmath-x/judging/"


@pytest.fixture
def judging(task, assessor):
    make_pool(task, {"A.1": ["10", "11"], "A.2": ["12"]})
    assign(assessor, *task.topics.all())


def instance(topic: str, place: int = 0):
    return PoolItem.objects.filter(topic__query_id=topic)[place].instances.get()


def test_the_first_topic_is_begun_and_the_last_judged_is_gone_on_with(client_of, assessor, judging):
    client = client_of(assessor)
    assert "Start judging A.1" in client.get(HOME).text

    judge(assessor, instance("A.1"), 1)
    page = client.get(HOME).text
    assert "Continue judging A.1" in page
    assert "2 items left" in page


def test_a_finished_topic_is_not_gone_on_with(client_of, assessor, judging):
    for place in (0, 1):
        judge(assessor, instance("A.1", place), 1)

    assert "Start judging A.2" in client_of(assessor).get(HOME).text


@pytest.mark.parametrize("where", ["/", "/labs/arqmath-x/", "/labs/arqmath-x/tasks/task1/"])
def test_every_page_on_the_way_leads_to_the_next_topic(client_of, assessor, judging, where):
    page = client_of(assessor).get(where).text

    assert "Start judging A.1" in page
    assert reverse("assessment:judge", args=["arqmath-x", "task1", "A.1"]) in page


@pytest.mark.parametrize("where", ["/", "/labs/arqmath-x/", "/labs/arqmath-x/tasks/task1/"])
def test_organizers_see_how_far_the_judging_is(client_of, organizer, assessor, task, where):
    make_pool(task, {"A.1": ["10", "11"], "A.2": ["12"]})
    assign(assessor, task.topics.get(query_id="A.1"))
    judge(assessor, instance("A.1"), 1)
    page = " ".join(client_of(organizer).get(where).text.replace("</a>", "").split())

    assert "1 of 3 items judged; 1 unassigned topic." in page
    assert "Start judging" not in page


def test_nothing_is_left_in_a_pool_that_is_closed(client_of, assessor, judging):
    Pool.objects.update(closed_at=NOW)

    assert "No items left to judge." in client_of(assessor).get(HOME).text


def test_who_lost_the_role_has_no_topics_any_more(client_of, assessor, judging, lab):
    lab.memberships.filter(user=assessor).delete()

    assert client_of(assessor).get(HOME).status_code == 404
    assert "A.1" not in client_of(assessor).get("/").text


def test_new_guidelines_are_announced_until_something_is_judged_by_them(
    client_of, assessor, judging, task
):
    client = client_of(assessor)
    judge(assessor, instance("A.1"), 1)
    assert "changed since you last judged" not in client.get(HOME).text

    guideline = write_guideline(task=task, text="<p>New.</p>", at=NOW, by=None)
    assert "changed since you last judged in this task" in client.get(HOME).text

    judge(assessor, instance("A.1", 1), 1, guideline=guideline)
    assert "changed since you last judged" not in client.get(HOME).text


def test_who_has_not_judged_yet_sees_no_change(client_of, assessor, judging, task):
    write_guideline(task=task, text="<p>New.</p>", at=NOW, by=None)

    assert "changed since you last judged" not in client_of(assessor).get(HOME).text


@pytest.mark.parametrize("size", [1, 20])
def test_the_page_takes_as_many_queries_for_many_topics(
    client_of, assessor, task, size, django_assert_num_queries
):
    topics = [
        TopicFactory(task=task, query_id=f"C.{number}", position=9 + number)
        for number in range(size)
    ]
    make_pool(task, {topic.query_id: ["10"] for topic in topics})
    assign(assessor, *topics)
    client = client_of(assessor)

    with django_assert_num_queries(14):
        assert client.get(HOME).status_code == 200
