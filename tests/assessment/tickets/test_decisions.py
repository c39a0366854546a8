"""A decision that settles an item closes the tickets about it, from whichever door it comes."""

from collections.abc import Callable

import pytest
from django.urls import reverse
from django.utils import timezone

from arqlab.core.models import User
from arqlab.labs.services.people import revoke_role
from assessment.models import Judgment, LateLabel, PoolInstance, Ticket
from assessment.tickets.services.answers import answer_ticket
from assessment.tickets.services.reports import DECIDED
from tests.assessment.factories import NOW, assign, make_pool, raise_ticket
from tests.assessment.judging.desk import Desk
from tests.assessment.rounds.factories import round_of
from tests.factories import AssessorFactory, Scene

UNSURE = 6


@pytest.fixture
def third(lab) -> User:
    return AssessorFactory(lab=lab).user


@pytest.fixture
def reported(scene) -> Scene:
    """A lab with an item that its assessor could not read."""
    make_pool(scene.task, {"A.1": ["10", "11"]})
    assign(scene.assessor, *scene.task.topics.all())
    raise_ticket(scene.assessor, PoolInstance.official.get(doc_id="10"))
    raise_ticket(scene.assessor, PoolInstance.official.get(doc_id="11"))
    return scene


def page(scene: Scene, fields: dict[str, object]) -> None:
    """Send a form of the page of the item."""
    instance = PoolInstance.official.get(doc_id="10")
    path = reverse("assessment:adjudication-detail", args=["arqmath-x", "task1", instance.pk])
    assert Desk(scene.organizer).client.post(path, fields).status_code == 302


def decide(scene: Scene) -> None:
    page(scene, {"action": "decide", "label": 2, "reason": "The thread shows it."})


def in_meeting(scene: Scene, third: User) -> None:
    """Record the label of a meeting."""
    decide(scene)


def by_third_opinion(scene: Scene, third: User, label: int = 2, **fields: str) -> None:
    """Ask an assessor, who judges on the judging page and its API."""
    page(scene, {"action": "ask", "person": third.pk})
    desk = Desk(third, round="adjudication-1")
    desk.submit(desk.next(), label, **fields)


def on_trip(scene: Scene, third: User) -> None:
    """Ask an assessor, who judges offline and sends the label later."""
    by_third_opinion(scene, third, given_at=timezone.now().isoformat())


def late_and_kept(scene: Scene, third: User) -> None:
    """Ask an assessor, whose role ends before the label arrives; an organizer keeps it."""
    page(scene, {"action": "ask", "person": third.pk})
    desk = Desk(third, round="adjudication-1")
    item = desk.next()
    revoke_role(lab=scene.lab, user=third, role="assessor", by=scene.organizer)
    desk.submit(item, 2)
    assert Ticket.objects.filter(answered_at=None).count() == 2
    path = reverse("assessment:late-label-list", args=["arqmath-x", "task1"])
    sent = {"labels": [LateLabel.objects.get().pk], "decision": "kept", "reason": "In time."}
    Desk(scene.organizer).client.post(path, sent)


DOORS: list[Callable[[Scene, User], None]] = [in_meeting, by_third_opinion, on_trip, late_and_kept]


def states() -> dict[str, str]:
    """Return the states of the tickets by item."""
    return {each.judgment.instance.doc_id: each.state for each in Ticket.objects.all()}


@pytest.mark.parametrize("door", DOORS)
def test_a_decision_closes_the_ticket_of_its_item_alone(reported, third, door):
    door(reported, third)

    assert states() == {"10": "answered", "11": "open"}
    ticket = Ticket.objects.get(judgment__instance__doc_id="10")
    assert (ticket.answer, ticket.answered_by) == (DECIDED, None)


def test_a_third_opinion_that_is_no_judgment_closes_nothing(reported, third):
    by_third_opinion(reported, third, UNSURE, comment="Neither can I.")
    assert [each.state for each in Ticket.objects.all()] == ["open"] * 3

    reported_again = Judgment.objects.get(label=UNSURE)
    page(
        reported, {"action": "decide", "label": 2, "reason": "It shows.", "seen": reported_again.pk}
    )
    assert [each.state for each in Ticket.objects.order_by("pk")] == [
        "answered",
        "open",
        "answered",
    ]


def test_a_withdrawn_decision_opens_the_ticket_again(reported):
    decide(reported)
    decision = Judgment.objects.get(label=2)

    page(reported, {"action": "withdraw", "seen": decision.pk})

    assert states() == {"10": "open", "11": "open"}
    assert {ticket.answer for ticket in Ticket.objects.all()} == {""}


def test_an_answer_of_a_person_outlasts_the_decision_and_its_withdrawal(reported):
    ticket = Ticket.objects.get(judgment__instance__doc_id="10")
    answer = {"answer": "See it.", "returns_item": False, "at": NOW, "by": reported.organizer}
    answer_ticket(ticket=ticket, **answer)
    decide(reported)
    page(reported, {"action": "withdraw", "seen": Judgment.objects.get(label=2).pk})

    ticket.refresh_from_db()
    assert (ticket.answer, ticket.state) == ("See it.", "answered")


@pytest.mark.parametrize(("kind", "state"), [("second", "answered"), ("training", "open")])
def test_a_decision_settles_second_judgments_and_leaves_those_of_training(
    reported, third, kind, state
):
    made = round_of(reported.task, kind, third)
    desk = Desk(third, round=made.key)
    item = desk.next()
    desk.submit(item, UNSURE, comment="I cannot read it.")
    ticket = Ticket.objects.get(judgment__instance__item=item["item"])
    doc_id = ticket.judgment.instance.doc_id
    instance = PoolInstance.official.get(doc_id=doc_id)
    path = reverse("assessment:adjudication-detail", args=["arqmath-x", "task1", instance.pk])
    fields = {"action": "decide", "label": 2, "reason": "The thread shows it."}
    Desk(reported.organizer).client.post(path, fields)

    ticket.refresh_from_db()
    assert ticket.state == state
