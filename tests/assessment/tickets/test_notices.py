"""Assessors are notified when their tickets are answered."""

import pytest

from arqlab.notices.models import Notice
from assessment.models import PoolInstance
from assessment.tickets.services.answers import answer_ticket
from tests.assessment.factories import NOW, make_pool, raise_ticket


@pytest.fixture
def ticket(task, assessor):
    make_pool(task)
    return raise_ticket(assessor, PoolInstance.objects.order_by("pk").first())


def answer(ticket, by, *, returns_item=False):
    answer_ticket(
        ticket=ticket, answer="Reload the page.", returns_item=returns_item, at=NOW, by=by
    )


@pytest.mark.parametrize(
    ("returns_item", "sentence"),
    [
        (True, "The item is back in your topic."),
        (False, "You do not need to judge the item again."),
    ],
)
def test_the_assessor_is_notified_of_the_answer(
    ticket, assessor, organizer, returns_item, sentence
):
    answer(ticket, organizer, returns_item=returns_item)

    notice = Notice.objects.get()
    assert notice.user == assessor
    assert notice.subject == "Answer retrieval: answer to your ticket on topic A.1"
    assert f"{organizer.name} answered your ticket" in notice.text
    assert "\n\nReload the page.\n\n" in notice.text
    assert sentence in notice.text
    assert notice.path == "/labs/arqmath-x/judging/#tickets"


def test_organizers_are_not_notified_of_their_own_answers(ticket, assessor):
    answer(ticket, assessor)

    assert not Notice.objects.exists()
