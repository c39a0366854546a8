"""Assessors see their own progress, pace, hours and answered tickets on one page."""

import csv
import io
import json
import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from assessment.models import Assignment, PoolInstance
from tests.assessment.factories import NOW, assign, judge, make_pool, raise_ticket
from tests.assessment.rounds.factories import round_of, vote
from tests.factories import AssessorFactory, TopicFactory

pytestmark = pytest.mark.django_db
WORK = "/labs/arqmath-x/judging/work/"
HOUR = 3_600_000


@pytest.fixture
def judging(task, assessor):
    make_pool(task, {"A.1": ["10", "11", "12"], "A.2": ["13", "14"]})
    assign(assessor, *task.topics.all())


def instance(doc_id: str) -> PoolInstance:
    return PoolInstance.official.get(doc_id=doc_id)


def row(page: str, table: str, first: str) -> list[str]:
    """Return the cells of a row of a table of the page, after its first one."""
    [found] = re.findall(rf'<table[^>]*id="{table}".*?</table>', page, re.DOTALL)
    rows = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", one, re.DOTALL) for one in found.split("<tr>")]
    texts = [[" ".join(re.sub("<[^>]+>", "", cell).split()) for cell in one] for one in rows]
    [wanted] = [one[1:] for one in texts if one and one[0] == first]
    return wanted


def test_progress_hours_and_pace_by_task_and_topic(client_of, assessor, judging):
    judge(assessor, instance("10"), 3, active_ms=60_000)
    judge(assessor, instance("11"), 2, active_ms=30_000)
    page = client_of(assessor).get(WORK).text

    assert row(page, "tasks", "Answer retrieval")[:5] == ["2", "2", "0.03", "45", "3"]
    a1 = ["Answer retrieval", "In progress", "2 of 3", "1", "2", "0.03", "45"]
    assert row(page, "topics", "A.1") == a1
    a2 = ["Answer retrieval", "Not started", "0 of 2", "2", "0", "0.00", "–"]
    assert row(page, "topics", "A.2") == a2


def test_hours_in_topics_of_others_stay_on_the_page(client_of, assessor, judging):
    judge(assessor, instance("10"), 3, active_ms=HOUR)
    Assignment.objects.filter(topic__query_id="A.1").update(ended_at=NOW)
    page = client_of(assessor).get(WORK).text

    assert row(page, "topics", "A.1")[1:] == ["no longer yours", "–", "–", "1", "1.00", "3600"]
    assert "judge/A.1/" not in page


def test_work_in_a_round_has_its_own_rows(client_of, assessor, task, judging):
    judge(assessor, instance("10"), 3, active_ms=HOUR)
    training = round_of(task, "training", assessor, title="First training")
    sample = round_of(task, "sample", assessor)
    vote(training, assessor, "10", 2, active_ms=HOUR // 2)
    vote(sample, assessor, "10", 2, active_ms=HOUR)
    page = client_of(assessor).get(WORK).text

    assert row(page, "tasks", "Answer retrieval")[:3] == ["2", "1", "1.00"]
    assert row(page, "tasks", "Answer retrieval First training")[:3] == ["–", "1", "0.50"]
    assert "1.50 active hours for 2 items." in page


def test_days_are_a_chart_with_a_table(client_of, assessor, judging):
    judge(assessor, instance("10"), 3, active_ms=60_000)
    judge(assessor, instance("11"), 2, active_ms=None, judged_at=NOW + timedelta(days=2))
    page = client_of(assessor).get(WORK).text
    [data] = re.findall(r'<script id="own-days-data"[^>]*>(.*?)</script>', page)

    assert json.loads(data)["days"] == [
        {"day": "2026-11-21", "items": 1, "seconds": 60.0},
        {"day": "2026-11-23", "items": 1, "seconds": None},
    ]
    assert row(page, "own-days", "23 Nov 2026") == ["0.00", "1", "1", "–"]


def test_the_own_time_sheet_has_no_one_elses_work(client_of, assessor, lab, judging):
    other = AssessorFactory(lab=lab).user
    judge(assessor, instance("10"), 3, active_ms=HOUR)
    judge(other, instance("11"), 2, active_ms=HOUR)
    client = client_of(assessor)
    file = b"".join(client.get(f"{WORK}csv/")).decode("utf-8-sig")

    rows = list(csv.DictReader(io.StringIO(file)))
    assert [(row["username"], row["active_hours"]) for row in rows] == [
        (assessor.username, "1.000000")
    ]
    assert "1.00 active hours for 1 item." in client.get(WORK).text


@pytest.mark.needs("timesheets")
def test_assessors_do_not_see_the_rate(client_of, assessor, organizer, judging):
    judge(assessor, instance("10"), 3, active_ms=HOUR)
    rate = {"hourly_rate": "17.35", "currency": "EUR", "time_zone": "Europe/Prague"}
    client_of(organizer).post("/labs/arqmath-x/time-sheet/", rate)
    page = client_of(assessor).get(WORK).text

    assert "17.35" not in page
    assert "EUR" not in page
    assert "Days are in the time zone Europe/Prague." in page


def test_answered_tickets_are_listed_and_open_ones_counted(client_of, assessor, organizer, judging):
    raise_ticket(assessor, instance("10"))
    answered = {"answer": "We repaired it.", "answered_by": organizer, "answered_at": NOW}
    raise_ticket(assessor, instance("11"), **answered)
    page = client_of(assessor).get(WORK).text

    assert "1 ticket waits for an answer." in page
    assert page.count("We repaired it.") == 1


def test_a_ticket_of_a_round_does_not_link_to_the_official_page(
    client_of, assessor, organizer, task, judging
):
    made = round_of(task, "training", assessor)
    answered = {"answer": "We repaired it.", "answered_by": organizer, "answered_at": NOW}
    copied = PoolInstance.objects.get(item__pool=made.pool, doc_id="10")
    for one in (instance("11"), copied):
        raise_ticket(assessor, one, **answered)
    page = client_of(assessor).get(WORK).text

    assert page.count("We repaired it.") == 2
    assert f"?item={instance('11').item_id}" in page
    assert f"?item={copied.item_id}" not in page


def test_the_page_before_the_first_topic(client_of, assessor):
    page = client_of(assessor).get(WORK).text

    assert "No topics yet" in page
    assert "What counts" not in page


def test_the_topics_page_leads_to_it(client_of, assessor, judging):
    assert f'href="{WORK}"' in client_of(assessor).get("/labs/arqmath-x/judging/").text


def test_more_topics_take_no_more_queries(
    client_of, assessor, task, judging, django_assert_num_queries
):
    client = client_of(assessor)
    judge(assessor, instance("10"), 1)
    with CaptureQueriesContext(connection) as before:
        client.get(WORK)
    topics = [TopicFactory(task=task) for _ in range(5)]
    make_pool(task, {topic.query_id: [f"{topic.query_id}-1"] for topic in topics})
    assign(assessor, *topics)
    for topic in topics:
        judge(assessor, instance(f"{topic.query_id}-1"), 1)
    with django_assert_num_queries(len(before)):
        client.get(WORK)
