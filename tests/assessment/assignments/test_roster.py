"""Assessors of a task, their hours, and the topics they want."""

import re

import pytest
from django.urls import reverse

from arqlab.core.models import AuditEvent, Membership
from arqlab.notices.models import Notice
from assessment.assignments.selectors.roster import task_roster
from assessment.models import RosterEntry, TopicBid
from tests.assessment.factories import NOW, assign
from tests.factories import AssessorFactory, TopicFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def organizing(client_of, organizer):
    return client_of(organizer)


@pytest.fixture
def bidding(client_of, assessor, task):
    """The browser of an assessor who is on the roster."""
    RosterEntry.objects.create(task=task, user=assessor, added_at=NOW)
    return client_of(assessor)


def path(name: str, *more: object) -> str:
    return reverse(f"assessment:{name}", args=["arqmath-x", "task1", *more])


def words(text: str) -> str:
    return " ".join(re.sub("<[^>]*>", " ", text.split("<main")[1]).split())


def bid(client, topic, choice: str, **headers: str):
    return client.post(path("bid-list"), {f"bid-{topic.pk}": choice}, headers=headers)


def bids() -> set[tuple[str, str, str]]:
    return set(TopicBid.objects.values_list("topic__query_id", "user__username", "choice"))


def test_a_mark_for_no_topic_is_left_out(bidding):
    form = "application/x-www-form-urlencoded"
    answer = bidding.generic("POST", path("bid-list"), f"bid-{'9' * 5000}=gladly", form)

    assert (answer.status_code, bids()) == (302, set())


def test_assessors_are_added_and_invited(organizing, organizer, task, assessor):
    page = organizing.post(
        path("assignment-roster"), {"people": [assessor.pk], "invites": "on"}, follow=True
    )

    assert f"Added {assessor.name}." in page.text
    entry = RosterEntry.objects.get()
    assert (entry.user, entry.added_by, entry.hours) == (assessor, organizer, None)
    notice = Notice.objects.get(kind="topic-bids")
    assert (notice.user, notice.path) == (assessor, path("bid-list"))
    assert entry.invited_at
    assert AuditEvent.objects.get(verb="roster.add").detail == {"added": [assessor.username]}
    assert AuditEvent.objects.filter(verb="roster.invite").count() == 1


def test_assessors_may_be_added_without_a_notice(organizing, task, assessor):
    organizing.post(path("assignment-roster"), {"people": [assessor.pk]})

    assert RosterEntry.objects.get().invited_at is None
    assert not Notice.objects.exists()


def test_only_people_who_may_judge_can_be_added(organizing, task, outsider, member):
    page = organizing.get(path("assignment-roster")).text
    assert outsider.name not in page
    for person in (outsider, member):
        page = organizing.post(path("assignment-roster"), {"people": [person.pk]}).text
        assert f"{person.pk} cannot be added. Reload the page." in page
    assert not RosterEntry.objects.exists()


def test_without_a_person_the_page_says_so(organizing, task, assessor):
    page = organizing.post(path("assignment-roster"), {}).text
    assert "No assessor selected. Tick the assessors to add." in page


def test_who_has_topics_is_on_the_roster(organizing, task, assessor):
    assign(assessor, *task.topics.all())
    assign(assessor, task.topics.first(), ended_at=NOW)
    assign(assessor, TopicFactory())

    [row] = task_roster(task)
    assert (row.person, row.entry, row.topics, row.may_judge) == (assessor, None, 2, True)
    page = organizing.get(path("assignment-roster")).text
    assert assessor.name in page
    assert f'value="{assessor.pk}"' not in page
    message = organizing.post(path("assignment-roster-remove", assessor.pk), follow=True).text
    assert "has topics of this task. Unassign them" in message


def test_an_assessor_without_topics_is_removed_and_the_bids_stay(organizing, task, bidding):
    bid(bidding, task.topics.first(), "gladly")
    entry = RosterEntry.objects.get()
    organizing.post(path("assignment-roster-remove", entry.user_id))

    assert not RosterEntry.objects.exists()
    assert len(bids()) == 1
    assert task_roster(task) == []
    assert bidding.get(path("bid-list")).status_code == 404


def test_the_organizer_sees_hours_choices_and_who_has_none(organizing, task, lab, bidding):
    silent = AssessorFactory(lab=lab).user
    RosterEntry.objects.create(task=task, user=silent, added_at=NOW)
    bid(bidding, task.topics.get(query_id="A.1"), "no")
    bidding.post(path("bid-offer"), {"hours": "12.5", "note": "Away in May."})

    page = words(organizing.get(path("assignment-roster")).text)
    assert "2 assessors, 12.5 hours offered. 1 has not marked topics yet." in page
    assert "Save 0 0 0 1 1 Away in May." in page
    assert f"{silent.name} No topics marked" in page
    organizing.post(path("assignment-roster-invite"))
    assert [one.user for one in Notice.objects.filter(kind="topic-bids")] == [silent]


def test_the_organizer_changes_the_hours(organizing, organizer, task, assessor, bidding):
    bidding.post(path("bid-offer"), {"hours": "12", "note": "Away in May."})
    organizing.post(path("assignment-roster-hours", assessor.pk), {"hours": "20"})

    entry = RosterEntry.objects.get()
    assert (entry.hours, entry.note) == (20.0, "Away in May.")
    event = AuditEvent.objects.filter(verb="roster.offer").latest("pk")
    assert event.actor == organizer
    assert event.detail == {"person": assessor.username, "changes": {"hours": [12.0, 20.0]}}


@pytest.mark.parametrize("hours", ["-1", "many", "1e9"])
def test_impossible_hours_are_refused(organizing, task, assessor, bidding, hours):
    page = organizing.post(
        path("assignment-roster-hours", assessor.pk), {"hours": hours}, follow=True
    ).text
    assert f"{assessor.name}: The hours are " in page
    assert "The hours are " in bidding.post(path("bid-offer"), {"hours": hours}, follow=True).text
    assert RosterEntry.objects.get().hours is None


def test_a_choice_is_saved_at_once_and_can_be_changed_and_cleared(bidding, task, assessor):
    first, second = task.topics.order_by("position")
    page = words("<main" + bid(bidding, first, "gladly", HX_Request="true").text)
    assert page == "You marked 1 of 2 topics: 1 gladly, 0 if needed, 0 no."
    bid(bidding, second, "if-needed")
    bid(bidding, first, "no")
    assert bids() == {("A.1", assessor.username, "no"), ("A.2", assessor.username, "if-needed")}
    bid(bidding, first, "")
    assert bids() == {("A.2", assessor.username, "if-needed")}


def test_without_scripts_all_choices_are_saved_together(bidding, task, assessor):
    first, second = task.topics.order_by("position")
    fields = {f"bid-{first.pk}": "gladly", f"bid-{second.pk}": ""}
    page = bidding.post(path("bid-list"), fields, follow=True).text

    assert "Your marks are saved." in page
    assert bids() == {("A.1", assessor.username, "gladly")}


def test_the_page_shows_topics_and_own_choices(bidding, task):
    topic = task.topics.get(query_id="A.1")
    topic.tags, topic.info, topic.info_edits = ["limits"], {"difficulty": "easy"}, {}
    topic.save()
    bid(bidding, topic, "if-needed")
    page = bidding.get(path("bid-list")).text

    assert "A.1 The title of A.1 limits easy" in words(page)
    assert re.findall(r'value="([^"]*)"\s+checked', page) == ["if-needed", ""]


@pytest.mark.parametrize("choice", ["maybe", "gladly"])
def test_unknown_choices_and_topics_are_refused(bidding, task, choice):
    topic = task.topics.first() if choice == "maybe" else TopicFactory()
    response = bid(bidding, topic, choice, HX_Request="true")

    assert response.status_code == 409
    assert "The topics have changed since you opened this page" in response.json()["message"]
    assert bids() == set()


def test_bids_are_private(bidding, client_of, task, lab, assessor):
    other = AssessorFactory(lab=lab).user
    RosterEntry.objects.create(task=task, user=other, added_at=NOW)
    bid(bidding, task.topics.first(), "gladly")
    bidding.post(path("bid-offer"), {"hours": "12", "note": "Away in May."})
    page = client_of(other).get(path("bid-list")).text

    assert "You marked 0 of 2 topics" in words(page)
    assert "Away in May." not in page
    assert client_of(other).get(path("assignment-roster")).status_code == 404


def test_who_lost_the_role_cannot_choose(bidding, task, assessor):
    Membership.objects.filter(user=assessor).delete()

    assert bid(bidding, task.topics.first(), "gladly").status_code == 404
    assert not task_roster(task)[0].may_judge


def test_the_hours_of_who_lost_the_role_stay(organizing, bidding, task, assessor):
    Membership.objects.filter(user=assessor).delete()
    page = organizing.post(
        path("assignment-roster-hours", assessor.pk), {"hours": "20"}, follow=True
    ).text

    assert f"{assessor.name} cannot judge in" in page
    assert RosterEntry.objects.get().hours is None


def test_the_judging_page_leads_to_the_choices(bidding, client_of, task, lab, assessor):
    bid(bidding, task.topics.first(), "gladly")
    page = words(bidding.get(reverse("assessment:judging-home", args=[lab.slug])).text)
    assert "Answer retrieval: you marked 1 of 2 topics." in page
    other = client_of(AssessorFactory(lab=lab).user)
    assert "you marked" not in other.get(reverse("assessment:judging-home", args=[lab.slug])).text
