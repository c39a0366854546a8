"""An assessor sees on one page what to go on with; and on the pages of lab and task, too."""

from datetime import UTC, datetime

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from arqlab.core.models import Task, Topic
from assessment.guidelines.services.versions import write_guideline
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


def test_topics_are_listed_with_title_formula_tags_and_difficulty(client_of, assessor, judging):
    assert "Difficulty" not in client_of(assessor).get(HOME).text
    Topic.objects.filter(query_id="A.1").update(
        title_html="A <i>title</i>",
        formula_html="<math><mi>k</mi></math>",
        tags=["limits", "sums"],
        info={"difficulty": "hard"},
    )
    page = client_of(assessor).get(HOME).text

    [row] = [row for row in page.split("<tr>") if "A <i>title</i>" in row]
    assert "<math><mi>k</mi></math>" in row
    assert "limits, sums" in row
    assert "<td>hard</td>" in row


def test_more_topics_take_no_more_queries(
    client_of, assessor, task, judging, django_assert_num_queries
):
    client = client_of(assessor)
    with CaptureQueriesContext(connection) as before:
        client.get(HOME)
    topics = [TopicFactory(task=task, info={"difficulty": "easy"}) for _ in range(5)]
    make_pool(task, {topic.query_id: ["10", "11"] for topic in topics})
    assign(assessor, *topics)
    with django_assert_num_queries(len(before)):
        client.get(HOME)


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


@pytest.mark.parametrize("where", ["/", "/labs/arqmath-x/", HOME])
def test_the_judging_deadline_is_shown_with_what_is_left(client_of, assessor, judging, where):
    Task.objects.update(judging_deadline=datetime(2026, 12, 6, 11, 59, tzinfo=UTC))
    page = " ".join(client_of(assessor).get(where).text.split())

    assert "Answer retrieval: judging deadline <time" in page
    assert "5 December 2026, 23:59 anywhere on earth" in page
    assert "3 items left, about 2 min." in page  # 44.1 s each, as in ARQMath-3


def test_the_time_left_is_at_the_own_pace_from_ten_items_on(client_of, assessor, task):
    Task.objects.update(judging_deadline=datetime(2026, 12, 6, 11, 59, tzinfo=UTC))
    make_pool(task, {"A.1": [str(number) for number in range(16)]})
    assign(assessor, task.topics.get(query_id="A.1"))
    for place in range(10):
        judge(assessor, instance("A.1", place), 1, active_ms=60_000)

    assert "6 items left, about 6 min at your pace." in client_of(assessor).get(HOME).text


@pytest.mark.parametrize("where", ["/labs/arqmath-x/tasks/task1/judge/A.1/", "/"])
def test_the_judging_deadline_locks_nothing(client_of, assessor, judging, where):
    Task.objects.update(judging_deadline=datetime(2026, 11, 1, tzinfo=UTC))

    assert client_of(assessor).get(where).status_code == 200


@pytest.mark.parametrize("where", ["/", "/labs/arqmath-x/", "/labs/arqmath-x/tasks/task1/"])
def test_organizers_see_the_judging_deadline(client_of, organizer, task, where):
    Task.objects.update(judging_deadline=datetime(2026, 12, 6, 11, 59, tzinfo=UTC))

    words = "judging ends" if where == "/labs/arqmath-x/" else "Judging deadline: "
    assert words in client_of(organizer).get(where).text


@pytest.mark.parametrize("where", ["/", "/labs/arqmath-x/", "/labs/arqmath-x/tasks/task1/"])
def test_organizers_see_how_far_the_judging_is(client_of, organizer, assessor, task, where):
    make_pool(task, {"A.1": ["10", "11"], "A.2": ["12"]})
    assign(assessor, task.topics.get(query_id="A.1"))
    judge(assessor, instance("A.1"), 1)
    page = " ".join(client_of(organizer).get(where).text.replace("</a>", "").split())

    assert "1 of 3 items judged" in page
    assert "1 unassigned topic" in page
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
    page = client.get(HOME).text
    assert "changed since you last judged in this task" in page
    assert 'tasks/task1/guidelines/1/changes/?since=0"' in page

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

    client.get(HOME)  # which counts the items, and keeps the counts
    with django_assert_num_queries(20):
        assert client.get(HOME).status_code == 200


@pytest.mark.needs("timesheets")
def test_organizers_get_from_their_topics_to_the_time_sheet(client_of, organizer, assessor, lab):
    assert "/labs/arqmath-x/time-sheet/" in client_of(organizer).get(HOME).text
    assert "/labs/arqmath-x/time-sheet/" not in client_of(assessor).get(HOME).text
