"""The policy of a task: what happens with each label that is not a judgment."""

import pytest
from django.urls import reverse

from arqlab.core.models import AuditEvent
from arqlab.notices.models import Notice
from assessment.models import Assignment, Judgment, PoolItem, Ticket, TicketPolicy
from tests.assessment.factories import NOW, assign, make_pool
from tests.assessment.judging.desk import Desk
from tests.assessment.rounds.factories import round_of
from tests.factories import AssessorFactory

pytestmark = pytest.mark.django_db
ANOTHER = {"5": "another"}


@pytest.fixture
def expert(lab):
    return AssessorFactory(lab=lab, user__username="ada").user


@pytest.fixture
def other(lab, task):
    user = AssessorFactory(lab=lab, user__username="other").user
    assign(user, *task.topics.all())
    return user


@pytest.fixture
def desk(task, assessor):
    make_pool(task, {"A.1": ["1", "2"]})
    assign(assessor, *task.topics.all())
    return Desk(assessor)


def report(desk: Desk, label: int = 5):
    """Report the next item, and return it."""
    item = desk.next()
    desk.submit(item, label, comment="I cannot read it.")
    return item


def names(desk: Desk) -> set[int]:
    """Return the items that the desk gets, one after the other."""
    found: list[int] = []
    while item := desk.next(have=found):
        found.append(item["item"])
    return set(found)


def save(client, **fields):
    page = reverse("assessment:ticket-policy", args=["arqmath-x", "task1"])
    given = {"label_5": "wait", "label_6": "wait", "expert": ""} | fields
    return client.post(page, given, follow=True)


def test_by_default_a_ticket_waits_for_the_organizers(desk, other):
    report(desk)

    assert Ticket.objects.get().state == "open"
    assert Judgment.objects.get().is_current


def test_a_policy_is_saved_and_shown_in_words(client_of, organizer, desk, expert, assessor):
    page = save(client_of(organizer), label_5="another", label_6="expert", expert=expert.pk).text
    home = client_of(assessor).get(reverse("assessment:judging-home", args=["arqmath-x"])).text

    for shown in (page, home):
        assert "System failure: Another assessor of the topic gets the item, once." in shown
        assert "Do not know: An expert reads your comment" in shown
    policy = TicketPolicy.objects.get()
    assert (policy.actions, policy.expert) == ({"5": "another", "6": "expert"}, expert)
    assert AuditEvent.objects.get(verb="ticket_policy.edit").detail["after"] == policy.actions


def test_a_policy_that_sends_tickets_names_the_expert(client_of, organizer):
    response = save(client_of(organizer), label_6="expert")

    assert response.status_code == 422
    assert "Choose the expert who gets the tickets." in response.text
    assert not TicketPolicy.objects.exists()


def test_a_label_sends_its_tickets_to_the_expert(desk, task, expert):
    TicketPolicy.objects.create(task=task, actions={"6": "expert"}, expert=expert)
    report(desk, 5)
    report(desk, 6)

    tickets = Ticket.objects.order_by("pk")
    assert [ticket.state for ticket in tickets] == ["open", "with-expert"]
    assert tickets[1].expert == expert
    assert Notice.objects.filter(user=expert, kind="ticket-sent").count() == 1


def test_a_policy_is_for_new_tickets_and_leaves_those_that_wait(desk, task, expert):
    report(desk)
    TicketPolicy.objects.create(task=task, actions={"5": "expert"}, expert=expert)
    report(desk)

    assert [ticket.state for ticket in Ticket.objects.order_by("pk")] == ["open", "with-expert"]


def test_a_ticket_of_the_expert_waits_for_the_organizers(desk, task, assessor):
    TicketPolicy.objects.create(task=task, actions={"5": "expert"}, expert=assessor)
    report(desk)

    assert Ticket.objects.get().state == "open"


def test_an_item_returns_to_another_assessor(desk, task, other):
    TicketPolicy.objects.create(task=task, actions=ANOTHER)
    item = report(desk)["item"]

    assert item not in desk.post("trip/", {"hours": 24})["items"]
    assert item not in names(desk)
    assert Desk(other).next()["item"] == item
    assert list(Judgment.objects.values_list("label", "is_current")) == [(5, False)]
    ticket = Ticket.objects.get()
    assert "The item went to another assessor" in ticket.answer
    assert ticket.state == "answered"
    event = AuditEvent.objects.get(verb="ticket.return")
    assert (event.actor, event.detail["kept_from"]) == (None, desk.user.username)


def test_the_reporter_of_the_last_item_reads_who_judges_it(desk, task, other):
    TicketPolicy.objects.create(task=task, actions=ANOTHER)
    desk.submit(desk.next(), 2)
    report(desk)

    page = desk.client.get("/labs/arqmath-x/tasks/task1/judge/A.1/").text
    assert "1 item that you reported waits for another assessor of this topic" in page
    assert "return to you after half an hour" not in page


def test_an_item_returns_only_once(desk, task, other):
    TicketPolicy.objects.create(task=task, actions=ANOTHER)
    first, second = report(desk)["item"], report(Desk(other))["item"]

    assert first == second
    assert [ticket.state for ticket in Ticket.objects.order_by("pk")] == ["answered", "open"]
    assert Judgment.objects.get(is_current=True).assessor == other
    assert PoolItem.objects.get(pk=first).done_at is not None


def test_an_item_stays_if_nobody_else_has_the_topic(desk, task, expert):
    TicketPolicy.objects.create(task=task, actions=ANOTHER)
    report(desk)

    assert Ticket.objects.get().state == "open"
    assert Judgment.objects.get().is_current


def test_an_item_comes_back_when_nobody_else_is_left(desk, task, other):
    TicketPolicy.objects.create(task=task, actions=ANOTHER)
    item = report(desk)["item"]
    Assignment.objects.filter(assessor=other).update(ended_at=NOW)

    assert item in names(desk)


def test_the_items_of_a_round_stay_with_their_assessor(desk, task, assessor, other):
    TicketPolicy.objects.create(task=task, actions=ANOTHER)
    made = round_of(task, "training", assessor, other)

    report(Desk(assessor, round=made.key))

    assert Ticket.objects.get().state == "open"
    assert Judgment.objects.get().is_current
