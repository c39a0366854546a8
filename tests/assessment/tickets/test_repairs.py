"""Repairs of the items of tickets: corrections of what a lab shows, beside its collection."""

import re

import pytest
from django.urls import reverse

from arqkit.records import TopicRecord
from arqkit.texts.html.sanitizer import RULES
from arqkit.texts.maths.typesetting import ENGINE
from arqlab.core.models import AuditEvent, Correction, Topic, TypesetFormula
from arqlab.labs.services.topic_pages import topic_pages
from assessment.models import PoolInstance, Ticket
from collection.models import Collection, LabCollection, Post
from collection.services.loading import load_collection
from tests.assessment.factories import (
    NOW,
    assign,
    make_formula_pool,
    make_pool,
    make_written_pool,
    raise_ticket,
)
from tests.assessment.judging.desk import Desk
from tests.collection.factories import collection_file, load_small
from tests.factories import FormulaTaskFactory, TopicFactory, make_lab

pytestmark = pytest.mark.django_db
BROKEN = r"\frac{a}"
ALERT = "alert(1)"


@pytest.fixture
def collection(lab, tmp_path) -> Collection:
    return load_small(lab, tmp_path)


@pytest.fixture
def post(collection) -> Post:
    """The first answer of a pool, with a formula that nobody can read."""
    post = Post.objects.get(post_id="10")
    post.body = f"<p>It is ${BROKEN}$.</p>"
    post.rules = 0
    post.save()
    return post


@pytest.fixture
def desk(task, assessor):
    make_pool(task)
    assign(assessor, *task.topics.all())
    return Desk(assessor)


@pytest.fixture
def ticket(post, desk, assessor) -> Ticket:
    return raise_ticket(assessor, PoolInstance.objects.get(doc_id="10"))


@pytest.fixture
def organizing(client_of, organizer):
    return client_of(organizer)


def path(ticket: Ticket, kind: str = "", query: str = "") -> str:
    name, args = ("repair", [kind]) if kind else ("detail", [])
    address = reverse(f"assessment:ticket-{name}", args=["arqmath-x", ticket.pk, *args])
    return address + query


def repair(client, ticket, kind, value="", query="", **fields):
    given = {"value": value} if value else {}
    return client.post(path(ticket, kind, query), {**given, **fields}, follow=True).text


def sections(page: str) -> list[str]:
    """Return the HTML of the previews before and after."""
    return re.findall(r"<h2>(?:Before|After)</h2>(.*?)</section>", page, re.DOTALL)


def shown_on_judging_page(desk: Desk, ticket: Ticket) -> str:
    [instance] = desk.get(f"items/{ticket.judgment.instance.item_id}/")["instances"]
    return instance["title_html"] + instance["html"]


def thread_of(client, post_id: str = "10") -> str:
    return client.get(reverse("collection:post-detail", args=["arqmath-x", post_id])).text


def test_a_formula_that_cannot_be_typeset_is_found(organizing, ticket):
    page = organizing.get(path(ticket)).text

    assert "This formula cannot be typeset." in page
    assert f"{path(ticket, 'formula')}?formula=0" in page


def test_a_corrected_formula_is_previewed_before_it_is_saved(organizing, ticket):
    before, after = sections(
        repair(organizing, ticket, "formula", r"\frac{a}{b}", "?formula=0", preview="yes")
    )

    assert "<mfrac>" not in before
    assert "<mfrac>" in after
    assert not Correction.objects.exists()


def test_a_corrected_formula_appears_wherever_the_lab_shows_it(organizing, ticket, desk, lab, task):
    source = TopicRecord("A.1", "Why?", f"<p>What is ${BROKEN}$?</p>")
    [page] = topic_pages([source])
    Topic.objects.filter(task=task, query_id="A.1").update(
        title=source.title, body=source.body, body_html=page.body, engine=ENGINE
    )
    assert "<mfrac>" not in page.body

    repair(organizing, ticket, "formula", r"\frac{a}{b}", "?formula=0")

    assert "<mfrac>" in shown_on_judging_page(desk, ticket)
    assert "<mfrac>" in thread_of(organizing)
    assert "<mfrac>" in Topic.objects.get(task=task, query_id="A.1").body_html
    assert "<mfrac>" in organizing.get(path(ticket)).text


def test_another_lab_with_the_collection_does_not_show_the_correction(
    organizing, ticket, collection
):
    other_lab = make_lab("arqmath-y").lab
    LabCollection.objects.create(lab=other_lab, collection=collection)
    repair(organizing, ticket, "formula", r"\frac{a}{b}", "?formula=0")

    address = reverse("collection:post-detail", args=[other_lab.slug, "10"])
    page = organizing.get(address).text
    assert BROKEN in page
    assert "<mfrac>" not in page


def test_a_correction_is_audited_undone_and_leaves_the_collection(organizing, ticket, desk, post):
    repair(organizing, ticket, "text", "<p>Whole again.</p>")
    assert "Whole again." in shown_on_judging_page(desk, ticket)
    repair(organizing, ticket, "text", "<p>Better.</p>")
    [made] = Correction.objects.all()

    undo = reverse("assessment:correction-undo", args=["arqmath-x", made.pk])
    assert "Correction undone" in organizing.post(undo, {"ticket": ticket.pk}, follow=True).text

    assert BROKEN in shown_on_judging_page(desk, ticket)
    assert Post.objects.get(pk=post.pk).body == post.body
    events = AuditEvent.objects.filter(verb__startswith="correction.").order_by("pk")
    assert [(event.detail["before"], event.detail["after"]) for event in events] == [
        (None, "<p>Whole again.</p>"),
        ("<p>Whole again.</p>", "<p>Better.</p>"),
        ("<p>Better.</p>", None),
    ]


def test_a_correction_survives_a_reload_of_the_collection(
    organizing, ticket, desk, lab, collection, tmp_path
):
    repair(organizing, ticket, "text", "<p>Whole again.</p>")
    LabCollection.objects.all().delete()
    Collection.objects.all().delete()
    load_collection(lab=lab, file=collection_file(tmp_path), at=NOW)

    assert "Whole again." in shown_on_judging_page(desk, ticket)
    assert "Whole again." in thread_of(organizing)


@pytest.mark.parametrize(
    "hostile",
    [
        f"<p>Fine<script>{ALERT}</script></p>",
        f'<p onclick="{ALERT}">Fine</p>',
        f'<p>Fine<img src=x onerror="{ALERT}"></p>',
        f'<p>Fine<a href="javascript:{ALERT}">x</a></p>',
    ],
)
def test_html_of_organizers_is_sanitized_like_that_of_posts(organizing, ticket, desk, hostile):
    _, after = sections(repair(organizing, ticket, "text", hostile, preview="yes"))
    repair(organizing, ticket, "text", hostile)

    for page in (after, shown_on_judging_page(desk, ticket), thread_of(organizing)):
        assert "Fine" in page
        assert ALERT not in page


@pytest.mark.parametrize(
    ("kind", "value", "refusal"),
    [
        ("formula", BROKEN, "cannot be typeset either"),
        ("text", "<script>x()</script>", "None of this HTML"),
        ("text", " ", "Write what the lab should show."),
        ("thread", "10", "The collection has no question 10."),
        ("thread", "404", "The collection has no question 404."),
    ],
)
def test_a_correction_that_cannot_be_shown_is_refused(organizing, ticket, kind, value, refusal):
    page = repair(organizing, ticket, kind, value, "?formula=0")

    assert "There is a problem" in page
    assert refusal in page
    assert not Correction.objects.exists()


def test_a_missing_text_is_added(organizing, desk, collection, assessor, task):
    make_pool(task, {"A.2": ["404"]})
    ticket = raise_ticket(assessor, PoolInstance.objects.get(doc_id="404"))
    assert "The collection does not have the text" in organizing.get(path(ticket)).text

    repair(organizing, ticket, "text", "<p>From the archive.</p>")

    there = Desk(assessor, "A.2")
    assert "From the archive." in shown_on_judging_page(there, ticket)
    [instance] = there.get(f"items/{ticket.judgment.instance.item_id}/")["instances"]
    assert instance["thread_url"] == ""
    assert "does not have the text" not in organizing.get(path(ticket)).text


def test_a_formula_that_is_not_in_its_post_is_put_there(organizing, lab, collection, assessor):
    task = FormulaTaskFactory(lab=lab)
    TopicFactory(task=task, query_id="B.1", position=1)
    make_formula_pool(task, {"B.1": {"70": [("9", "12")]}})
    ticket = raise_ticket(assessor, PoolInstance.objects.get(doc_id="9"))
    assert "The formula to judge is not in the text." in organizing.get(path(ticket)).text

    repair(organizing, ticket, "text", '<p>So <span class="math-container" id="9">$a^2$</span></p>')

    page = organizing.get(path(ticket)).text
    assert "The formula to judge is not in the text." not in page
    assert '<mark class="math-container is-highlighted" data-formula-id="9"' in page


def test_the_text_of_a_generated_answer_is_corrected(organizing, lab, task, assessor):
    make_written_pool(task, {"A.1": {"run:A.1": "First\n\nsecond $x$"}})
    assign(assessor, *task.topics.all())
    ticket = raise_ticket(assessor, PoolInstance.objects.get(doc_id="run:A.1"))

    repair(organizing, ticket, "text", "<p>First and second</p>")

    assert "First and second" in shown_on_judging_page(Desk(assessor), ticket)


def test_only_an_answer_of_the_collection_gets_another_question(organizing, task, assessor):
    make_written_pool(task, {"A.1": {"run:A.1": "First"}})
    make_pool(task, {"A.2": ["1"]})

    for doc_id in ("run:A.1", "1"):
        ticket = raise_ticket(assessor, PoolInstance.objects.get(doc_id=doc_id))
        assert "Only an answer of the collection" in repair(organizing, ticket, "thread", "2")
    assert not Correction.objects.exists()


@pytest.fixture
def orphan(post) -> Post:
    """The same answer without its question: the dump left it out."""
    Post.objects.filter(pk=post.pk).update(thread_id="500")
    return post


def test_an_answer_without_its_question_gets_one(organizing, orphan, ticket):
    assert "does not have the question of this answer" in organizing.get(path(ticket)).text

    before, after = sections(repair(organizing, ticket, "thread", "2", preview="yes"))
    assert "Nothing is shown." in before
    assert "Another" in after
    repair(organizing, ticket, "thread", "2")

    assert "Another" in thread_of(organizing, "10")
    assert BROKEN in thread_of(organizing, "2")
    assert "does not have the question" not in organizing.get(path(ticket)).text


def test_an_answer_stays_where_it_is_when_its_new_question_is_gone(organizing, orphan, ticket):
    repair(organizing, ticket, "thread", "2")
    Post.objects.filter(thread_id="2").delete()

    assert BROKEN in thread_of(organizing, "10")


def test_a_formula_that_ran_out_of_time_is_typeset_again(organizing, ticket, post):
    Post.objects.filter(pk=post.pk).update(body="<p>It is $x^2$.</p>")
    organizing.get(path(ticket))
    TypesetFormula.objects.update(mathml="")
    assert "can be typeset now: 1." in organizing.get(path(ticket)).text

    before, after = sections(organizing.get(path(ticket, "typeset")).text)
    assert ("<msup>" in before, "<msup>" in after) == (False, True)
    repair(organizing, ticket, "typeset")

    assert "<msup>" in TypesetFormula.objects.get().mathml
    assert AuditEvent.objects.get(verb="item.repair").detail == {"kind": "typeset"}


def test_a_text_that_was_cleaned_wrongly_is_sanitized_again(organizing, ticket, post):
    Post.objects.filter(pk=post.pk).update(clean_title="", clean_body="<p>Cut</p>", rules=RULES)
    assert "differs from what the sanitizer makes" in organizing.get(path(ticket)).text

    before, after = sections(organizing.get(path(ticket, "sanitize")).text)
    assert ("Cut" in before, "It is" in after) == (True, True)
    repair(organizing, ticket, "sanitize")

    assert "It is" in Post.objects.get(pk=post.pk).safe_body
    assert "differs from" not in organizing.get(path(ticket)).text


def test_after_a_repair_the_item_returns_with_a_proposed_answer(organizing, ticket, desk):
    page = repair(organizing, ticket, "formula", "x", "?formula=0")
    assert "The item is repaired. Please judge it again.</textarea>" in page
    assert re.search(r'name="returns_item"[^>]*checked', page)

    organizing.post(path(ticket), {"answer": "The item is repaired.", "returns_item": "on"})
    assert desk.next()["item"] == ticket.judgment.instance.item_id


def test_what_the_assessor_saw_stays_as_it_was(organizing, ticket):
    Ticket.objects.update(
        html=f'<span class="math-container" data-latex="{BROKEN}">?</span>', raised_at=NOW
    )
    repair(organizing, ticket, "formula", r"\frac{a}{b}", "?formula=0")

    then, now = organizing.get(path(ticket)).text.split("Item as the lab shows it now")
    assert "<mfrac>" not in then
    assert "<mfrac>" in now


def test_all_corrections_of_a_lab_are_listed(organizing, ticket):
    address = reverse("assessment:correction-list", args=["arqmath-x"])
    assert "No corrections" in organizing.get(address).text

    repair(organizing, ticket, "text", "<p>Whole again.</p>")

    assert "&lt;p&gt;Whole again.&lt;/p&gt;" in organizing.get(address).text


def test_the_form_says_which_formula_is_judged(organizing, lab, collection, assessor):
    task = FormulaTaskFactory(lab=lab)
    TopicFactory(task=task, query_id="B.1", position=1)
    make_formula_pool(task, {"B.1": {"70": [("9", "12")]}})
    ticket = raise_ticket(assessor, PoolInstance.objects.get(doc_id="9"))

    page = organizing.get(path(ticket, "text")).text
    assert "&lt;span class=&quot;math-container&quot;&gt;$x^2$" in page
    assert "that to judge with id=&quot;9&quot;" in page


def test_formulas_are_listed_in_the_order_of_the_text(organizing, ticket, post):
    Post.objects.filter(pk=post.pk).update(body="<p>$z$, $a$, $m$</p>")

    page = organizing.get(path(ticket, "formula")).text
    assert re.findall(r"<code>(.)</code>", page) == ["z", "a", "m"]
    assert "\na</textarea>" in organizing.get(path(ticket, "formula", "?formula=1")).text


def test_a_formula_that_moved_meanwhile_is_not_corrected(organizing, ticket, post):
    page = repair(organizing, ticket, "formula", "x", "?formula=0", key="another")

    assert "The item has changed. Choose the formula again." in page
    assert not Correction.objects.exists()


def test_a_formula_of_several_lines_is_corrected(organizing, ticket, post):
    Post.objects.filter(pk=post.pk).update(body="<p>$x +\n\\sqrt$</p>")

    repair(organizing, ticket, "formula", "y", "?formula=0", key="x +\r\n\\sqrt")

    assert Correction.objects.get().key == "x +\n\\sqrt"


def test_a_formula_of_the_topic_is_corrected_from_the_ticket_of_an_item(
    organizing, ticket, task, post
):
    Post.objects.filter(pk=post.pk).update(body="<p>Fine.</p>")
    Topic.objects.filter(task=task, query_id="A.1").update(
        body=f"<p>What is ${BROKEN}$?</p>", body_html="<p>old</p>", engine=ENGINE
    )
    page = organizing.get(path(ticket)).text
    assert "This formula of the topic cannot be typeset." in page
    [number] = re.findall(r"formula/\?formula=(\d+)", page)

    query = f"?formula={number}"
    _, after = sections(repair(organizing, ticket, "formula", r"\frac{a}{b}", query, preview="yes"))
    repair(organizing, ticket, "formula", r"\frac{a}{b}", query)

    shown = Topic.objects.get(task=task, query_id="A.1").body_html
    assert ("<mfrac>" in after, "<mfrac>" in shown) == (True, True)
