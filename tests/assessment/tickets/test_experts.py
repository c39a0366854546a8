"""Tickets sent to an expert, whose reply an organizer, or by the policy the expert, uses."""

import pytest
from django.urls import reverse

from arqlab.core.models import AuditEvent
from arqlab.notices.models import Notice
from assessment.models import Judgment, PoolInstance, PoolItem, Ticket, TicketPolicy
from assessment.tickets.selectors import proposed_labels
from tests.assessment.factories import NOW, make_pool, raise_ticket
from tests.factories import AssessorFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def expert(lab):
    return AssessorFactory(lab=lab, user__username="ada", user__first_name="Ada").user


@pytest.fixture
def tickets(task, assessor) -> list[Ticket]:
    make_pool(task, {"A.1": ["1", "2"]})
    return [raise_ticket(assessor, one) for one in PoolInstance.objects.order_by("pk")]


@pytest.fixture
def ticket(tickets) -> Ticket:
    return tickets[0]


@pytest.fixture
def organizing(client_of, organizer):
    return client_of(organizer)


def address(name: str, ticket: Ticket | None = None) -> str:
    return reverse(
        f"assessment:ticket-{name}", args=["arqmath-x", *([ticket.pk] if ticket else [])]
    )


def send(client, expert, *tickets, **fields) -> str:
    given = {"tickets": [each.pk for each in tickets], "expert": expert.pk, "question": "Is it?"}
    return client.post(address("send"), given | fields, follow=True).text


def reply(client, ticket, **fields):
    given = {"opinion": "It follows from Hölder.", "label": "2"} | fields
    return client.post(address("advice", ticket), given, follow=True)


def test_a_sent_ticket_is_with_its_expert_who_is_notified(organizing, expert, ticket, client_of):
    assert "1 ticket sent to" in send(organizing, expert, ticket, detail="yes")

    assert Ticket.objects.get(pk=ticket.pk).state == "with-expert"
    assert str(ticket) not in organizing.get(address("list")).text.split("Corrections")[1]
    assert str(ticket) in organizing.get(f"{address('list')}?state=with-expert").text
    notice = Notice.objects.get(user=expert)
    assert "Is it?" in notice.text
    client = client_of(expert)
    assert "A formula cannot be read." in client.get(notice.path).text
    assert "Is it?" in client.get(address("sent-list")).text
    home = client.get(reverse("assessment:judging-home", args=["arqmath-x"])).text
    assert "The organizers ask for your opinion" in home


def test_what_is_no_ticket_leads_to_the_list(organizing, expert):
    answer = organizing.post(address("send"), {"tickets": "9" * 5000, "detail": "yes"})

    assert answer["Location"] == address("list")


def test_the_reply_returns_the_ticket_to_who_sent_it(
    organizing, organizer, expert, ticket, client_of
):
    send(organizing, expert, ticket)
    assert "Reply sent" in reply(client_of(expert), ticket).text

    assert Ticket.objects.get(pk=ticket.pk).state == "open"
    page = organizing.get(address("detail", ticket)).text
    assert "It follows from Hölder." in page
    assert "Proposed:" in page
    notice = Notice.objects.get(user=organizer)
    assert "It follows from Hölder." in notice.text
    assert "Proposed label: Medium." in notice.text


def test_a_proposed_label_counts_nowhere_until_an_adjudication_takes_it(
    organizing, expert, ticket, task, client_of
):
    send(organizing, expert, ticket)
    reply(client_of(expert), ticket)

    [proposed] = proposed_labels(task)
    assert (proposed.judgment.instance.doc_id, proposed.proposed_label) == ("1", 2)
    assert (proposed.opinion, proposed.expert) == ("It follows from Hölder.", expert)
    assert set(Judgment.objects.values_list("label", flat=True)) == {5}


def test_the_expert_changes_a_reply_until_the_ticket_is_answered(
    organizing, expert, ticket, client_of
):
    client = client_of(expert)
    send(organizing, expert, ticket)
    reply(client, ticket)
    reply(client, ticket, label="")
    assert Ticket.objects.get(pk=ticket.pk).proposed_label is None

    organizing.post(address("detail", ticket), {"answer": "Thanks."})
    assert "already answered" in reply(client, ticket, label="3").text
    assert [
        event.detail["label"]
        for event in AuditEvent.objects.filter(verb="ticket.advise").order_by("pk")
    ] == [2, None]


@pytest.mark.parametrize("given", [{"label": "5"}, {"label": "9"}, {"opinion": ""}])
def test_a_reply_needs_words_and_a_label_of_the_scale(organizing, expert, ticket, client_of, given):
    send(organizing, expert, ticket)

    assert reply(client_of(expert), ticket, **given).status_code == 422
    assert Ticket.objects.get(pk=ticket.pk).advised_at is None


def test_only_the_expert_of_a_ticket_replies(organizing, organizer, expert, ticket, client_of):
    send(organizing, organizer, ticket)

    assert reply(client_of(expert), ticket).status_code == 404


def test_several_tickets_are_sent_together_and_refusals_are_named(
    organizing, expert, assessor, tickets
):
    organizing.post(address("detail", tickets[1]), {"answer": "Seen."})

    page = send(organizing, expert, *tickets)

    assert "1 ticket sent to" in page
    assert f"{tickets[1]} was not sent. This ticket is already answered." in page
    assert "reported this item" in send(organizing, assessor, tickets[0])


def test_people_without_a_role_are_no_experts(organizing, outsider, ticket):
    assert "Select a valid choice" in send(organizing, outsider, ticket)
    assert Ticket.objects.get(pk=ticket.pk).expert is None


def test_sending_again_asks_the_new_expert(organizing, organizer, expert, ticket, client_of):
    send(organizing, expert, ticket)
    reply(client_of(expert), ticket)
    send(organizing, organizer, ticket)

    sent = Ticket.objects.get(pk=ticket.pk)
    assert (sent.expert, sent.opinion, sent.state) == (organizer, "", "with-expert")


def test_experts_close_tickets_only_if_the_policy_says_so(
    organizing, expert, ticket, task, client_of, assessor
):
    client, closing = client_of(expert), {"closes": "on", "returns_item": "on"}
    send(organizing, expert, ticket)
    reply(client, ticket, **closing)
    assert Ticket.objects.get(pk=ticket.pk).answered_at is None

    TicketPolicy.objects.create(task=task, expert_closes=True)
    reply(client, ticket, **closing)

    closed = Ticket.objects.get(pk=ticket.pk)
    assert (closed.answer, closed.answered_by) == ("It follows from Hölder.", expert)
    assert PoolItem.objects.get(pk=ticket.judgment.instance.item_id).done_at is None
    assert Notice.objects.filter(user=assessor, kind="ticket-answered").exists()


def test_an_earlier_answer_is_sent_again(organizing, tickets):
    organizing.post(address("detail", tickets[0]), {"answer": "Judge the text\r\nas it is."})

    organizing.post(address("detail", tickets[1]), {"answer": "", "reused": tickets[0].pk})

    answers = set(Ticket.objects.values_list("answer", flat=True))
    assert answers == {"Judge the text\r\nas it is."}


def test_a_ticket_from_before_experts_is_open(ticket):
    assert ticket.state == "open"
    Ticket.objects.update(answered_at=NOW)
    assert Ticket.objects.get(pk=ticket.pk).state == "answered"
