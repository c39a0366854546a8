"""Organizers say who judges what: by ticking topics, by a file, or shared out; labels are never
lost.
"""

import html
import re
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from arqlab.core.models import AuditEvent
from assessment.assignments.services.assigning import take_topics
from assessment.judging.services.leases import prepare_trip
from assessment.models import Assignment, Judgment, PoolItem
from assessment.tickets.services.answers import answer_ticket
from tests.assessment.factories import NOW, assign, judge, make_pool, raise_ticket
from tests.assessment.judging.desk import Desk
from tests.factories import AssessorFactory, TopicFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def organizing(client_of, organizer):
    return client_of(organizer)


@pytest.fixture
def bo(lab):
    return AssessorFactory(lab=lab, user__username="bo", user__email="bo@example.org").user


def path(name: str = "list") -> str:
    return reverse(f"assessment:assignment-{name}", args=["arqmath-x", "task1"])


def do(client, action: str, *topics: str, person: object = "", **fields: str) -> str:
    """Press a button below the table, and give the page that follows."""
    return client.post(
        path(), {"topics": topics, "person": person, "action": action} | fields, follow=True
    ).text


def open_ones() -> set[tuple[str, str]]:
    found = Assignment.objects.filter(ended_at=None)
    return set(found.values_list("topic__query_id", "assessor__username"))


def row(text: str, topic: str) -> str:
    """Return the words of a topic's row."""
    cells = next(part for part in text.split("<tr>") if f'aria-label="{topic}"' in part)
    return " ".join(re.sub("<[^>]*>", " ", cells).split())


def test_many_topics_are_assigned_at_once(organizing, task, bo):
    assert "2 assignments made." in do(organizing, "assign", "A.1", "A.2", person=bo.pk)
    assert open_ones() == {("A.1", "bo"), ("A.2", "bo")}
    assert AuditEvent.objects.get(verb="topics.assign").detail["assigned"] == {"bo": ["A.1", "A.2"]}


def test_assigning_again_changes_nothing_and_reports_it(organizing, task, bo):
    do(organizing, "assign", "A.1", person=bo.pk)

    assert "Nothing changed: the topics are already assigned this way." in do(
        organizing, "assign", "A.1", person=bo.pk
    )
    assert (
        Assignment.objects.count() == AuditEvent.objects.filter(verb="topics.assign").count() == 1
    )


def test_a_topic_can_be_shared(organizing, task, assessor, bo):
    do(organizing, "assign", "A.1", person=assessor.pk)
    do(organizing, "assign", "A.1", person=bo.pk)

    assert open_ones() == {("A.1", assessor.username), ("A.1", "bo")}


def test_a_topic_reassigned_in_mid_work_keeps_its_labels(organizing, task, assessor, bo):
    make_pool(task)
    assign(assessor, *task.topics.all())
    desk = Desk(assessor)
    item = desk.next()
    desk.submit(item, 3)

    assert "1 assignment made and 1 assignment ended; labels stay." in do(
        organizing, "reassign", "A.1", person=bo.pk
    )
    assert open_ones() == {("A.1", "bo"), ("A.2", assessor.username)}
    assert Judgment.objects.get().is_current
    assert Desk(bo).next()["item"] != item["item"]
    assert Assignment.objects.filter(ended_at__isnull=False).get().assessor == assessor


def test_topics_are_taken_from_one_person_or_from_all(organizing, task, assessor, bo):
    assign(assessor, *task.topics.all())
    assign(bo, *task.topics.all())

    do(organizing, "take", "A.1", person=bo.pk)
    assert ("A.1", assessor.username) in open_ones()
    page = do(organizing, "take", "A.1", "A.2")
    assert "No assessor selected. Choose an assessor, or tick" in page
    assert open_ones() == {("A.1", assessor.username), ("A.2", assessor.username), ("A.2", "bo")}
    do(organizing, "take", "A.1", "A.2", everybody="on")
    assert open_ones() == set()


def test_without_topics_or_a_person_the_page_shows_what_is_missing(organizing, task, bo):
    assert "No topics selected. Select topics in the table first." in do(
        organizing, "assign", person=bo.pk
    )
    page = do(organizing, "assign", "A.2")
    assert "No assessor selected. Choose who should judge the topics." in page
    assert re.search(r'value="A.2"\s+aria-label="A.2" checked', page)


@pytest.mark.parametrize(
    "data",
    [{"topics": "A.9", "action": "take"}, {"topics": "A.1", "action": "burn"}, {"person": "x"}],
)
def test_what_no_page_of_ours_sends_is_refused(organizing, task, data):
    response = organizing.post(path(), data)

    assert response.status_code == 200
    assert "There is a problem" in response.text


def test_nobody_is_assigned_who_may_not_judge(organizing, task, outsider):
    assert "is no longer an assessor in this lab" in do(
        organizing, "assign", "A.1", person=outsider.pk
    )
    assert open_ones() == set()


def test_the_grid_shows_state_pace_and_what_is_left(organizing, task, assessor):
    make_pool(task, {"A.1": ["10", "11", "12"], "A.2": ["12"]})
    assign(assessor, *task.topics.all())
    first, second, *_ = PoolItem.objects.filter(topic__query_id="A.1")
    judge(assessor, first.instances.get(), 3, active_ms=20_000)
    judge(assessor, second.instances.get(), 0, active_ms=40_000)
    text = organizing.get(path()).text

    # 44.1 s an answer, as in ARQMath-3, while ten were not judged; the pace shown is the topic's
    # own.
    assert row(text, "A.1").startswith("A.1 The title of A.1 In progress 3 2 30 0.0")
    assert row(text, "A.2").startswith("A.2 The title of A.2 Not started 1 0 – 0.0")
    assert "2 of 4 items judged." in text


def test_a_topic_of_which_all_is_judged_is_done_and_goes_through_review(organizing, task, assessor):
    make_pool(task, {"A.2": ["12"]})
    assign(assessor, *task.topics.all())
    judge(assessor, PoolItem.objects.get().instances.get(), 1)

    assert " Done " in row(organizing.get(path()).text, "A.2")
    assert " In review " in row(do(organizing, "review", "A.2"), "A.2")
    assert " Done " in row(do(organizing, "unreview", "A.2"), "A.2")


@pytest.mark.parametrize("items", [{"A.1": ["10"], "A.2": ["12"]}, {}])
def test_what_is_not_finished_or_has_no_items_cannot_be_in_review(
    organizing, task, assessor, items
):
    make_pool(task, items)
    assign(assessor, *task.topics.all())

    assert "Cannot review A.1, A.2." in do(organizing, "review", "A.1", "A.2")


def test_a_review_ends_when_an_item_waits_again(organizing, organizer, task, assessor):
    make_pool(task, {"A.2": ["12"]})
    assign(assessor, *task.topics.all())
    ticket = raise_ticket(assessor, PoolItem.objects.get().instances.get())
    do(organizing, "review", "A.2")
    answer_ticket(ticket=ticket, answer="Again.", returns_item=True, at=NOW, by=organizer)
    Desk(assessor, "A.2").submit(Desk(assessor, "A.2").next(), 2)

    assert " Done " in row(organizing.get(path()).text, "A.2")


def test_the_finish_is_forecast_from_the_last_week(organizing, task, assessor):
    make_pool(task, {"A.1": [str(number) for number in range(30)]})
    assign(assessor, task.topics.get(query_id="A.1"))
    now = timezone.now()
    for place, item in enumerate(PoolItem.objects.all()[:20]):
        judge(
            assessor, item.instances.get(), 1, judged_at=now - timedelta(days=9 if place < 6 else 2)
        )
    # 14 in seven days are two a day; ten are left.
    expected = (now + timedelta(days=5)).strftime("%-d %b %Y")

    assert expected in row(organizing.get(path()).text, "A.1")


def test_imported_labels_do_not_hasten_the_finish(organizing, task, assessor):
    make_pool(task, {"A.1": [str(number) for number in range(40)]})
    assign(assessor, task.topics.get(query_id="A.1"))
    items, now = PoolItem.objects.all(), timezone.now()
    for item in items[:20]:
        judge(assessor, item.instances.get(), 1, judged_at=now, is_imported=True)
    assert "estimated completion" not in organizing.get(path()).text
    for item in items[20:30]:
        judge(assessor, item.instances.get(), 1, judged_at=now - timedelta(days=2))
    # Ten in the two days since the first are five a day; ten are left.
    expected = (now + timedelta(days=2)).strftime("%-d %b %Y")

    assert expected in row(organizing.get(path()).text, "A.1")


def test_who_is_no_assessor_any_more_is_marked(organizing, task, lab, assessor):
    assign(assessor, *task.topics.all())
    lab.memberships.filter(user=assessor).delete()

    assert "no longer an assessor" in organizing.get(path()).text


def test_a_topic_that_only_who_may_judge_no_longer_has_waits_for_somebody(
    organizing, task, lab, assessor, bo
):
    make_pool(task, {"A.1": ["10", "11"], "A.2": ["12", "13"]})
    topics = task.topics.order_by("position")
    assign(assessor, *topics)
    assign(bo, topics[1])
    lab.memberships.filter(user=assessor).delete()

    page = organizing.get(path()).text
    assert "1 unassigned topic." in page
    assert row(page, "A.1").startswith("A.1 The title of A.1 Unassigned")
    assert [(one.person, one.left) for one in organizing.get(path()).context["grid"].judges] == [
        (bo, 2),
        (assessor, 0),
    ]
    assert "1 unassigned topic" in organizing.get(f"/labs/{lab.slug}/").text
    apply(organizing, organizing.post(path("share")).text)
    assert ("A.1", "bo") in open_ones()


def test_the_labels_of_who_has_neither_role_nor_topics_any_more_stay_in_the_grid(
    organizing, task, lab, assessor
):
    make_pool(task)
    judge(assessor, PoolItem.objects.first().instances.get(), 3)
    lab.memberships.filter(user=assessor).delete()

    page = organizing.get(path()).text
    assert f"{assessor.name} judged 1 and is no longer assigned" in page
    assert "no longer an assessor" in page
    assert f'<option value="{assessor.pk}"' not in page


def test_who_has_not_begun_a_shared_topic_differs_from_who_has(organizing, task, assessor, bo):
    make_pool(task)
    assign(assessor, task.topics.get(query_id="A.1"))
    assign(bo, task.topics.get(query_id="A.1"))
    judge(assessor, PoolItem.objects.filter(topic__query_id="A.1").first().instances.get(), 3)

    page = organizing.get(path()).text
    assert f'title="{assessor.name}: in progress, 1 judged"' in page
    assert f'title="{bo.name}: not started, 0 judged"' in page
    assert row(page, "A.1").startswith("A.1 The title of A.1 In progress")


@pytest.mark.parametrize("size", [1, 30])
@pytest.mark.once  # on PostgreSQL, counts stay under review until the test's transaction ends
def test_the_grid_takes_as_many_queries_whatever_its_size(
    organizing, task, lab, size, django_assert_num_queries
):
    topics = [
        TopicFactory(task=task, query_id=f"C.{number}", position=9 + number)
        for number in range(size)
    ]
    make_pool(task, {topic.query_id: ["10", "11"] for topic in topics})
    for topic in topics:
        person = AssessorFactory(lab=lab).user
        assign(person, topic)
        judge(person, PoolItem.objects.filter(topic=topic).first().instances.get(), 1)

    organizing.get(path())  # which counts items and labels, and keeps the counts
    # session, user, task, role, roles, notices, grid, forecasts and offline trips
    with django_assert_num_queries(17):
        assert organizing.get(path()).status_code == 200


def test_items_are_locked_before_assignments_as_labels_do(task, assessor, organizer):
    make_pool(task)
    topic = task.topics.get(query_id="A.1")
    assign(assessor, topic)
    prepare_trip(topic_id=topic.pk, user=assessor, hours=24, at=NOW)

    with CaptureQueriesContext(connection) as queries:
        take_topics(task=task, topics=[topic], person=None, at=NOW, by=organizer)
    changed = [query["sql"].split()[1] for query in queries if query["sql"].startswith("UPDATE")]
    assert changed[:2] == ['"assessment_poolitem"', '"assessment_assignment"']
    assert not PoolItem.objects.exclude(leased_to=None).exists()


def preview(client, text: str, **fields: str) -> str:
    file = SimpleUploadedFile("who.csv", text.encode())
    return client.post(path("import"), {"file": file, **fields}).text


def apply(client, page: str) -> str:
    """Press the button of a preview."""
    fields = dict(
        re.findall(
            r'<input type="hidden" name="(confirmed|pairs|replaces)"\s+value="([^"]*)"', page
        )
    )
    return client.post(
        path("apply"), {name: html.unescape(value) for name, value in fields.items()}, follow=True
    ).text


def test_a_file_is_shown_before_it_changes_anything(organizing, task, assessor, bo):
    page = preview(organizing, f"topic,assessor\nA.1,BO@example.org\nA.2,{assessor.username}\n")

    assert "This changes the assessors of 2 topics of Answer retrieval" in page
    assert open_ones() == set()
    assert "2 assignments made." in apply(organizing, page)
    assert open_ones() == {("A.1", "bo"), ("A.2", assessor.username)}


def test_topics_show_their_titles_tags_and_difficulty(organizing, task, bo):
    topic = task.topics.get(query_id="A.1")
    topic.tags, topic.info, topic.info_edits = ["limits"], {"difficulty": "easy"}, {}
    topic.save()

    assert row(organizing.get(path()).text, "A.1").startswith("A.1 The title of A.1 limits easy")
    assert row(organizing.get(path()).text, "A.2").startswith("A.2 The title of A.2 – ")
    page = " ".join(re.sub("<[^>]*>", " ", preview(organizing, "A.1,bo\n")).split())
    assert "A.1 The title of A.1 limits easy 0 – bo" in page


def totals(page: str) -> dict[str, str]:
    """Return the words of the rows of the totals, by assessor."""
    body = page.split('id="totals"')[1].split("<tbody>")[1].split("</tbody>")[0]
    rows = (" ".join(re.sub("<[^>]*>", " ", each).split()) for each in body.split("</tr>"))
    return dict(text.split(" ", 1) for text in rows if text)


def test_a_preview_shows_the_totals_of_each_assessor(organizing, task, assessor, bo):
    make_pool(task, {"A.1": [str(number) for number in range(100)], "A.2": ["12", "13"]})
    assign(assessor, *task.topics.all())
    page = preview(organizing, "A.1,bo\n")

    # The two share A.1. ARQMath-3 took 44.1 s an answer: 102 take 1.25 h, 52 take 0.64 h.
    assert totals(page) == {
        assessor.name: "2 102 → 52 1.2 → 0.6 –",
        "bo": "0 → 1 0 → 50 0.0 → 0.6 –",
    }
    assert open_ones() == {("A.1", assessor.username), ("A.2", assessor.username)}
    page = preview(organizing, "A.1,bo\n", replaces="on")
    assert totals(page)[assessor.name] == "2 → 1 102 → 2 1.2 → 0.0 –"


def test_totals_are_those_of_the_page_after_the_change(organizing, task, assessor, bo):
    make_pool(task, {"A.1": ["10", "11", "12"], "A.2": ["12", "13"]})
    assign(assessor, *task.topics.all())
    for item in PoolItem.objects.filter(topic__query_id="A.1")[:1]:
        judge(assessor, item.instances.get(), 3, judged_at=timezone.now() - timedelta(days=2))
    response = organizing.post(
        path("import"), {"file": SimpleUploadedFile("who.csv", b"A.1,bo\nA.2,bo\n")}
    )
    promised = [then for _, then in response.context["totals"].rows]
    apply(organizing, response.text)

    found = organizing.get(path()).context["grid"].judges
    assert [(one.person, one.topics, one.left, one.hours) for one in promised] == [
        (one.person, one.topics, one.left, one.hours) for one in found
    ]


def test_the_totals_of_a_former_assessor_end_at_nothing(organizing, task, lab, assessor, bo):
    make_pool(task)
    assign(assessor, *task.topics.all())
    lab.memberships.filter(user=assessor).delete()
    page = preview(organizing, "A.1,bo\nA.2,bo\n", replaces="on")

    assert totals(page)[assessor.name] == "no longer an assessor 2 → 0 0 0.0 –"


def test_a_file_may_take_its_topics_from_everybody_else(organizing, task, assessor, bo):
    assign(assessor, *task.topics.all())
    apply(organizing, preview(organizing, "A.1\tbo\n", replaces="on"))

    assert open_ones() == {("A.1", "bo"), ("A.2", assessor.username)}


def test_every_problem_of_a_file_is_reported_by_its_line(organizing, task, bo):
    page = preview(organizing, "A.1,bo\nA.9,bo\nA.2,nobody\n<b>,\n")

    assert "3 problems" in page
    assert "the topic &#x27;A.9&#x27;" in page
    assert "the assessor &#x27;nobody&#x27;" in page
    assert "Nothing was assigned. Correct the file and upload it again." in page
    assert path("apply") not in page


def test_an_assignment_that_comes_twice_is_made_once(organizing, task, bo):
    page = organizing.post(
        path("apply"), {"pairs": f'[["A.2",{bo.pk}],["A.2",{bo.pk}]]'}, follow=True
    ).text

    assert "1 assignment made." in page
    assert open_ones() == {("A.2", "bo")}


@pytest.mark.parametrize(
    "pairs", ["[" * 200_000, "", "[]x", '[["A.9", 1]]', '[["A.1", 999999]]', "[[{}, 1]]", "7"]
)
def test_a_preview_that_did_not_come_whole_changes_nothing(organizing, task, pairs):
    page = organizing.post(path("apply"), {"pairs": pairs}, follow=True).text

    assert "is incomplete, so nothing was changed" in page


def test_topics_that_nobody_has_are_shared_out_by_size(organizing, task, assessor, bo):
    make_pool(task, {"A.1": ["10", "11", "12"], "A.2": ["12"]})
    TopicFactory(task=task, query_id="A.3", position=3)
    make_pool(task, {"A.3": ["10", "11"]})
    page = organizing.post(path("share")).text
    apply(organizing, page)

    shares = open_ones()
    assert {topic for topic, _ in shares} == {"A.1", "A.2", "A.3"}
    assert len({person for topic, person in shares if topic in ("A.2", "A.3")}) == 1


def test_without_assessors_there_is_nobody_to_share_with(organizing, task, lab, assessor):
    make_pool(task)
    lab.memberships.filter(role="assessor").delete()

    assert (
        "Grant the role on the People page first."
        in organizing.post(path("share"), follow=True).text
    )
