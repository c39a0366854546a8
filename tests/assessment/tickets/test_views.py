"""The organizers' desk: what assessors could not judge, answered, and given back to be judged
again.
"""

import pytest
from django.urls import reverse

from arqlab.core.models import AuditEvent
from assessment.models import Assignment, Judgment, Pool, PoolInstance, PoolItem, Ticket
from tests.assessment.factories import NOW, assign, judge, make_pool, raise_ticket
from tests.assessment.judging.desk import Desk, label_for

pytestmark = pytest.mark.django_db
HOSTILE = (
    '<p onclick="a()">Let <span class="math-container is-long" data-latex="x^2">'
    "<math><mi>x</mi></math></span> be"
    '<script>alert(1)</script><img src="https://e.example/i.png" onerror="b()">'
    ' <a href="javascript:c()">here</a>'
    '<mark class="math-container is-highlighted" data-formula-id="7" data-latex="y">'
    "<math><mi>y</mi></math></mark></p>"
    '<form action="/labs/"><button>Press</button></form>'
    '<iframe src="/admin/"></iframe><style>*{}</style>'
)


@pytest.fixture
def desk(task, assessor):
    make_pool(task)
    assign(assessor, *task.topics.all())
    return Desk(assessor)


@pytest.fixture
def ticket(desk):
    """The ticket of a System failure that came over HTTP, with hostile HTML."""
    item = desk.next()
    row = label_for(item["instances"][0], 5, comment="Line 2 is empty <b>.", shown=HOSTILE)
    desk.post(
        "judgments/", {"item": item["item"], "lease": item["lease"], "judgments": [row], "have": []}
    )
    return Ticket.objects.get()


@pytest.fixture
def organizing(client_of, organizer):
    return client_of(organizer)


def path(ticket: Ticket | None = None) -> str:
    name, args = ("detail", [ticket.pk]) if ticket else ("list", [])
    return reverse(f"assessment:ticket-{name}", args=["arqmath-x", *args])


def answer(client, ticket, text="It shows now.", **fields):
    return client.post(path(ticket), {"answer": text, **fields}, follow=True).text


def test_an_open_ticket_appears_with_its_comment_topic_and_assessor(organizing, ticket, assessor):
    page = organizing.get(path()).text

    assert "1 ticket about" in page
    assert "Line 2 is empty &lt;b&gt;." in page
    assert "A.1" in page
    assert assessor.name in page


def test_what_the_assessor_saw_is_shown_safely_with_its_formulas(organizing, ticket):
    page = organizing.get(path(ticket)).text

    assert "<msup>" in page
    assert '<mark class="math-container is-highlighted" data-formula-id="7"' in page
    assert "Test browser 1" in page
    for bad in (
        "alert(1)",
        "onclick",
        "onerror",
        "javascript:",
        "<iframe",
        'action="/labs/"',
        "<style",
        '<img src="https',
    ):
        assert bad not in page, bad


@pytest.mark.parametrize(
    ("shown", "seen"),
    [
        ("&#0;&#x1;&#xFFFE;&#12;Line&#x2; 1", "\ufffdLine 1"),
        ("<html data-latex=x>", "&lt;html data-latex=x&gt;"),
    ],
)
def test_a_ticket_opens_whatever_was_sent_as_seen(organizing, task, assessor, shown, seen):
    make_pool(task)
    ticket = raise_ticket(assessor, PoolItem.objects.first().instances.get(), html=shown)

    response = organizing.get(path(ticket))

    assert response.status_code == 200
    assert f'<div class="post">{seen}</div>' in response.text.replace("<p>", "").replace("</p>", "")


def test_an_answer_is_stored_once_and_audited(organizing, ticket, organizer):
    assert "Ticket answered" in answer(organizing, ticket)
    ticket.refresh_from_db()

    assert (ticket.answer, ticket.answered_by) == ("It shows now.", organizer)
    assert AuditEvent.objects.get(verb="ticket.answer").detail == {
        "answer": "It shows now.",
        "returns_item": False,
    }
    assert "has already answered this ticket" in answer(organizing, ticket, "Another one.")
    assert Ticket.objects.get().answer == "It shows now."


def test_the_words_of_an_answer_are_corrected_and_those_before_are_kept(organizing, ticket):
    assert "Nobody has answered this ticket yet" in answer(
        organizing, ticket, "Too early.", corrects="yes"
    )
    answer(organizing, ticket, returns_item="on")
    assert "It shows now.</textarea>" in organizing.get(path(ticket)).text

    assert "Answer updated" in answer(organizing, ticket, "It shows tomorrow.", corrects="yes")
    assert "Write an answer" in answer(organizing, ticket, " ", corrects="yes")
    ticket.refresh_from_db()

    assert (ticket.answer, ticket.judgment.is_current) == ("It shows tomorrow.", False)
    event = AuditEvent.objects.get(verb="ticket.correct")
    assert event.detail == {"before": "It shows now.", "answer": "It shows tomorrow."}


@pytest.mark.parametrize("text", ["", " ", "x" * 10_001])
def test_an_answer_that_cannot_be_is_refused(organizing, ticket, text):
    assert "There is a problem" in answer(organizing, ticket, text)
    assert Ticket.objects.get().answered_at is None


def test_an_item_given_back_is_judged_again_and_its_history_stays(organizing, ticket, desk):
    answer(organizing, ticket, returns_item="on")
    again = desk.get(f"items/{ticket.judgment.instance.item_id}/")
    outcome = desk.submit(again, 2)

    assert outcome["done"] is True
    assert list(Judgment.objects.values_list("label", "is_current")) == [(5, False), (2, True)]


def test_who_has_the_topic_now_gets_the_item_back(organizing, ticket, desk, lab, organizer):
    Assignment.objects.update(ended_at=NOW)
    assign(organizer, ticket.judgment.instance.item.topic)
    answer(organizing, ticket, returns_item="on")

    assert Desk(organizer).next()["item"] == ticket.judgment.instance.item_id


def test_a_ticket_goes_with_the_label_that_replaces_its_own(organizing, ticket, desk):
    again = desk.get(f"items/{ticket.judgment.instance.item_id}/")
    desk.submit(again, 6, comment="Line 3 is empty, too.")

    page = organizing.get(path()).text
    assert "1 ticket about" in page
    assert "Line 3 is empty, too." in page
    answer(organizing, ticket, returns_item="on")
    assert list(Judgment.objects.values_list("label", "is_current")) == [(5, False), (6, False)]
    assert desk.get(f"items/{again['item']}/")["state"] == "waiting"


def test_a_ticket_is_closed_when_its_assessor_judges_the_item_after_all(
    organizing, ticket, desk, client_of, assessor
):
    desk.submit(desk.get(f"items/{ticket.judgment.instance.item_id}/"), 1, reason="It shows now.")

    assert "No open ticket" in organizing.get(path()).text
    assert "The assessor has judged it since." in organizing.get(path(ticket)).text
    home = client_of(assessor).get(reverse("assessment:judging-home", args=["arqmath-x"])).text
    assert "Answers to your tickets" not in home


def test_a_ticket_that_was_answered_stays_with_its_label_and_another_one_is_raised(
    organizing, ticket, desk
):
    again = desk.get(f"items/{ticket.judgment.instance.item_id}/")
    answer(organizing, ticket)
    desk.submit(again, 5, comment="It does not.")

    tickets = Ticket.objects.order_by("pk").values_list("judgment__comment", "answer")
    assert list(tickets) == [("Line 2 is empty <b>.", "It shows now."), ("It does not.", "")]


def test_a_label_that_does_not_count_leaves_the_ticket_of_the_one_that_does(
    organizing, ticket, desk
):
    stale = desk.get(f"items/{ticket.judgment.instance.item_id}/")
    stale["instances"][0]["judgment"] = None
    desk.submit(stale, 2)

    ticket.refresh_from_db()
    assert (ticket.answered_at, ticket.judgment.label) == (None, 5)


def test_an_item_that_was_judged_since_is_not_given_back(organizing, ticket):
    Judgment.objects.update(is_current=False)  # an import of labels put its own there
    judge(None, ticket.judgment.instance, 1, is_imported=True)

    assert "was judged again after" in answer(organizing, ticket, returns_item="on")
    assert Ticket.objects.get().answered_at is None
    assert "Return the item" not in organizing.get(path(ticket)).text


def test_an_item_of_a_closed_pool_is_not_given_back(organizing, ticket):
    Pool.objects.update(closed_at=NOW)

    assert "The pool is closed" in answer(organizing, ticket, returns_item="on")
    assert PoolItem.objects.get(pk=ticket.judgment.instance.item_id).done_at is not None


def test_an_organizer_of_another_lab_finds_no_ticket_here(client_of, ticket, outsider):
    assert client_of(outsider).get(path(ticket)).status_code == 404


def test_the_assessor_reads_the_answer_beside_their_topics(organizing, ticket, client_of, assessor):
    answer(organizing, ticket, "Reload & judge <again>.", returns_item="on")
    page = client_of(assessor).get(reverse("assessment:judging-home", args=["arqmath-x"])).text

    assert "Reload &amp; judge &lt;again&gt;." in page
    assert f"?item={ticket.judgment.instance.item_id}" in page
    assert "to judge again" in page


@pytest.mark.parametrize("size", [1, 12])
def test_the_desk_takes_as_many_queries_for_many_tickets(
    organizing, task, assessor, size, django_assert_num_queries
):
    make_pool(task, {"A.1": [str(number) for number in range(size)]})
    for item in PoolItem.objects.all():
        raise_ticket(assessor, item.instances.get())

    with django_assert_num_queries(14):
        assert organizing.get(path()).text.count("Select Ticket") == size


def test_open_tickets_are_filtered_by_label_and_words_on_all_pages(organizing, task, assessor):
    make_pool(task, {"A.1": [str(number) for number in range(120)]})
    for number, instance in enumerate(PoolInstance.objects.order_by("pk")):
        label, comment = (6, "needle") if number == 119 else (5, "empty")
        judgment = judge(assessor, instance, label, comment=comment)
        Ticket.objects.create(judgment=judgment, raised_at=NOW)

    whole = organizing.get(path()).text
    assert "Page 1 of 2" in whole
    assert "needle" not in whole
    for query in ("q=needle", "label=6", "q=a.1+NEEDLE&task=task1", "sort=-ticket"):
        assert "needle" in organizing.get(f"{path()}?{query}").text
    assert "No matching tickets" in organizing.get(f"{path()}?q=needle&label=5").text


def test_several_tickets_get_one_answer_and_refusals_are_named(organizing, task, assessor):
    make_pool(task, {"A.1": ["1", "2", "3"]})
    tickets = [raise_ticket(assessor, one) for one in PoolInstance.objects.order_by("pk")]
    answer(organizing, tickets[1], "Seen.")

    text = organizing.post(
        f"{path()}?sort=-ticket",
        {"tickets": [each.pk for each in tickets], "answer": "Fixed.", "returns_item": "on"},
        follow=True,
    ).text

    assert "2 tickets answered." in text
    assert f"{tickets[1]} was not answered. Someone else has already answered" in text
    assert [row.answer for row in Ticket.objects.order_by("pk")] == ["Fixed.", "Seen.", "Fixed."]
    assert PoolItem.objects.filter(done_at=None).count() == 2


def test_an_answer_to_no_ticket_is_refused_and_kept(organizing, ticket):
    response = organizing.post(path(), {"answer": "To whom?"})

    assert response.status_code == 422
    assert "Select the tickets to answer." in response.text
    assert "To whom?" in response.text
