"""Organizers plan assignments from hours and choices, edit the plan and apply it."""

import re
from html import unescape

import pytest
from django.urls import reverse

from arqlab.core.errors import UserError
from arqlab.core.models import AuditEvent
from arqlab.notices.models import Notice
from assessment.assignments.selectors.roster import planned_seconds
from assessment.assignments.services.planning import apply_plan
from assessment.models import Assignment, RosterEntry, SecondPlan, SetAsideTopic, TopicBid
from tests.assessment.factories import NOW, assign, make_pool
from tests.factories import AssessorFactory, TopicFactory

pytestmark = pytest.mark.django_db
PATH = "/labs/arqmath-x/tasks/task1/assignments/plan/"
ITEMS = {f"A.{number}": [str(item) for item in range(100)] for number in range(1, 5)}


@pytest.fixture
def planning(client_of, organizer, task):
    """The browser of an organizer, in a task with four topics of 100 items: 1.225 hours each."""
    for number in (3, 4):
        TopicFactory(task=task, query_id=f"A.{number}", position=number)
    make_pool(task, ITEMS)
    return client_of(organizer)


@pytest.fixture
def ann(task):
    return on_roster(task, "ann", 10)


@pytest.fixture
def bo(task):
    return on_roster(task, "bo", 10)


def on_roster(task, name: str, hours: float | None):
    person = AssessorFactory(lab=task.lab, user__username=name).user
    RosterEntry.objects.create(task=task, user=person, hours=hours, added_at=NOW)
    return person


def want(person, choice: str, *topics: str) -> None:
    for topic in person.roster_entries.get().task.topics.filter(query_id__in=topics):
        TopicBid.objects.create(topic=topic, user=person, choice=choice, changed_at=NOW)


def propose(client, overlap: int = 0):
    return client.post(PATH, {"action": "propose", "overlap": overlap})


def choices_of(response) -> dict[str, str]:
    """Return what the lists of the page have chosen."""
    lists = re.findall(r'<select[^>]*name="([^"]*)"[^>]*>(.*?)</select>', response.text, re.S)
    return {
        name: (re.findall(r'value="([^"]*)" selected', options) or [""])[0]
        for name, options in lists
    }


def send(client, fields: dict[str, str], action: str = "apply", overlap: int = 0, **headers):
    data = {**fields, "action": action, "overlap": overlap}
    return client.post(PATH, data, follow=True, headers=headers)


def proposal_of(response) -> str:
    """Return what the page says was proposed."""
    return unescape(re.findall('name="proposed" value="([^"]*)"', response.text)[0])


def assigned() -> dict[str, str]:
    found = Assignment.objects.filter(ended_at=None)
    return dict(found.values_list("topic__query_id", "assessor__username"))


def planned() -> dict[str, str]:
    return dict(SecondPlan.objects.values_list("topic__query_id", "assessor__username"))


def words(text: str) -> str:
    return " ".join(re.sub("<[^>]*>", " ", text).split())


def test_the_proposal_follows_the_choices_and_is_applied(planning, organizer, ann, bo):
    want(ann, "gladly", "A.1", "A.3")
    want(bo, "no", "A.2")
    want(bo, "gladly", "A.4")
    response = propose(planning)
    assert not Assignment.objects.exists()

    page = send(planning, choices_of(response)).text
    assert "4 topics assigned, 0 second assessors changed." in page
    assert assigned() == {"A.1": "ann", "A.2": "ann", "A.3": "ann", "A.4": "bo"}
    assert AuditEvent.objects.get(verb="topics.assign").actor == organizer
    assert Notice.objects.filter(kind="topics-assigned").count() == 2


def test_second_assessors_are_planned_for_a_later_round(planning, task, ann, bo):
    response = propose(planning, overlap=2)
    assert response.context["unchecked"] == response.context["not_checking"] == []
    page = send(planning, choices_of(response), overlap=2).text

    assert "4 topics assigned, 2 second assessors changed." in page
    assert set(planned().values()) == {"ann", "bo"}
    assert all(assigned()[topic] != name for topic, name in planned().items())
    found = {
        task.topics.get(pk=pk).query_id: one.username for pk, one in planned_seconds(task).items()
    }
    assert found == planned()
    event = AuditEvent.objects.get(verb="topics.plan-second").detail
    assert {name: len(topics) for name, topics in event["planned"].items()} == {"ann": 1, "bo": 1}


def test_the_plan_is_edited_by_hand(planning, task, ann, bo):
    want(ann, "no", "A.1")
    fields = choices_of(propose(planning))
    topics = {topic.query_id: topic.pk for topic in task.topics.all()}
    fields |= {f"first-{pk}": str(bo.pk) for pk in topics.values()}
    fields |= {f"first-{topics['A.1']}": str(ann.pk), f"first-{topics['A.4']}": ""}
    part = send(planning, fields, "check", HX_Request="true").text

    assert "<html" not in part
    assert "ann does not want A.1." in words(part)
    assert "A.4 has no assessor." in words(part)
    # 100 answers at ARQMath-3's 44.1 seconds are 1.2 hours, 200 are 2.5.
    assert "ann 1.2 10 0 1 0 0 0 0 1" in words(part)
    assert "bo 2.5 10 0 2 0 0 0 2 0" in words(part)
    send(planning, fields)
    assert assigned() == {"A.1": "ann", "A.2": "bo", "A.3": "bo"}


def test_a_new_proposal_keeps_the_choices_by_hand(planning, task, ann, bo):
    want(ann, "gladly", "A.1", "A.2", "A.3")
    want(bo, "gladly", "A.4")
    page = propose(planning)
    a1, a2, a3, a4 = task.topics.order_by("position").values_list("pk", flat=True)
    by_hand = {f"first-{a1}": str(bo.pk), f"first-{a2}": "", f"second-{a3}": str(bo.pk)}
    for _ in range(2):  # an edit stays one in a proposal after the next
        fields = {**choices_of(page), **by_hand, "proposed": proposal_of(page)}
        page = send(planning, fields, "propose", overlap=2)

        chosen = choices_of(page)
        assert {name: chosen[name] for name in by_hand} == by_hand
        assert (chosen[f"first-{a3}"], chosen[f"first-{a4}"]) == (str(ann.pk), str(bo.pk))
        assert sum(bool(key) for name, key in chosen.items() if "second" in name) == 2
        assert "3 choices by hand kept." in page.text


def test_a_topic_without_a_second_assessor_by_hand_gets_none_in_a_new_proposal(
    planning, task, ann, bo
):
    page = propose(planning, overlap=4)
    [first, *_] = [name for name in choices_of(page) if "second" in name]
    fields = {**choices_of(page), first: "", "proposed": proposal_of(page)}

    chosen = choices_of(send(planning, fields, "propose", overlap=4))
    assert [name for name, key in chosen.items() if not key] == [first]


def test_missing_hours_are_reported_by_topic(planning, task):
    on_roster(task, "ann", 3)
    on_roster(task, "bo", 1)
    response = propose(planning)
    text = words(response.text)

    # Each topic takes 1.225 hours: two are 2.45 of Ann's 3 hours, and none fits Bo.
    assert sum(bool(value) for name, value in choices_of(response).items() if "first" in name) == 2
    assert text.count("has enough hours left: 0.2 more are needed.") == 2
    assert "All topics together need about 4.9 hours, and 4 are offered." in text


def test_topics_that_all_decline_are_reported(planning, ann, bo):
    want(ann, "no", "A.2")
    want(bo, "no", "A.2")

    assert "A.2 has no assessor. Nobody on the roster would judge it." in words(
        propose(planning).text
    )


def test_assigned_topics_stay_and_count(planning, task, ann, bo):
    assign(bo, *task.topics.filter(query_id__in=["A.1", "A.2", "A.3"]))
    response = propose(planning)
    fields = choices_of(response)

    assert [name for name in fields if "first" in name] == [
        f"first-{task.topics.get(query_id='A.4').pk}"
    ]
    send(planning, fields)
    assert assigned() == {"A.1": "bo", "A.2": "bo", "A.3": "bo", "A.4": "ann"}


def test_a_topic_that_was_assigned_in_the_meantime_stops_the_plan(planning, task, ann, bo):
    fields = choices_of(propose(planning))
    assign(ann, task.topics.get(query_id="A.2"))
    page = send(planning, fields | {f"first-{task.topics.get(query_id='A.2').pk}": ""})
    assert page.redirect_chain  # the list of A.2 is no longer read
    assert assigned()["A.2"] == "ann"


def test_two_organizers_do_not_share_topics_by_accident(planning, task, ann, bo, organizer):
    topic = task.topics.get(query_id="A.2")
    assign(ann, topic)
    with pytest.raises(UserError, match=r"A\.2 got an assessor in the meantime"):
        apply_plan(task=task, first=[(topic, bo)], second={topic: bo}, at=NOW, by=organizer)
    assert not SecondPlan.objects.exists()


def test_nobody_is_the_second_assessor_of_an_own_topic(planning, task, ann, bo):
    topic = task.topics.get(query_id="A.1")
    fields = {f"first-{topic.pk}": str(ann.pk), f"second-{topic.pk}": str(ann.pk)}
    page = send(planning, fields).text

    assert "The first and the second assessor of A.1 are the same person." in page
    assert assigned() == planned() == {}
    assert f'value="{ann.pk}" selected' in page


def test_second_assessors_are_changed_later(planning, task, ann, bo):
    topic = task.topics.get(query_id="A.1")
    assign(ann, *task.topics.all())
    send(planning, {f"second-{topic.pk}": str(bo.pk)}, overlap=1)
    assert planned() == {"A.1": "bo"}
    # A new proposal keeps them, and adds as many as are missing.
    fields = choices_of(propose(planning, overlap=2))
    assert fields[f"second-{topic.pk}"] == str(bo.pk)
    assert sum(bool(value) for name, value in fields.items() if "second" in name) == 2
    send(planning, {f"second-{topic.pk}": ""})
    assert planned() == {}


def test_a_second_assessor_who_got_the_topic_is_no_second_one(planning, task, ann, bo):
    topic = task.topics.get(query_id="A.1")
    SecondPlan.objects.create(topic=topic, assessor=bo, planned_at=NOW)
    assert planned_seconds(task) == {topic.pk: bo}
    assign(bo, topic)
    assert planned_seconds(task) == {}


def test_a_page_with_unknown_assessors_is_refused(planning, task, ann):
    page = send(planning, {f"first-{task.topics.first().pk}": "999"})
    assert "The form is incomplete, so nothing was changed." in page.text
    assert assigned() == {}


def test_topics_without_items_count_what_is_expected(client_of, organizer, task, ann):
    browser = client_of(organizer)
    data = {"action": "propose", "overlap": "0", "expected_labels": "400"}
    text = words(browser.post(PATH, data).text)

    # Two topics of 400 answers at 44.1 seconds take 9.8 hours.
    assert "the topics need about 9.8 hours" in text
    assert "ann 9.8 10 0 2 0" in text
    assert "is not a whole number" in browser.post(PATH, {**data, "expected_labels": "x"}).text


def test_topics_that_are_set_aside_are_left_out(planning, task, ann):
    topic = task.topics.get(query_id="A.2")
    SetAsideTopic.objects.create(
        topic=topic, judged=50, relevant=0, probability=0.0, set_aside_at=NOW
    )

    assert f"first-{topic.pk}" not in choices_of(propose(planning))


def test_without_assessors_the_page_leads_to_the_roster(planning):
    page = planning.get(PATH).text
    assert "No assessors yet" in page
    assert reverse("assessment:assignment-roster", args=["arqmath-x", "task1"]) in page


@pytest.mark.parametrize("size", [1, 30])
def test_the_page_takes_as_many_queries_whatever_its_size(
    planning, task, size, django_assert_max_num_queries
):
    for number in range(size):
        person = on_roster(task, f"p{number}", 10)
        want(person, "gladly", "A.1")
    propose(planning, overlap=1)  # which counts items and labels, and keeps the counts
    with django_assert_max_num_queries(32):
        assert propose(planning, overlap=1).status_code == 200


def test_assessors_without_a_limit_offer_no_number_of_hours(planning, task):
    on_roster(task, "cy", None)
    text = words(planning.get(PATH).text)

    assert "0 hours" not in text
    assert "The topics need about" in text
    assert "Without a limit: cy." in text
