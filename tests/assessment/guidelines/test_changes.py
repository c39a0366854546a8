"""What a version of the guidelines changed: words, examples, cases, and the labels before it."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from arqkit.judgments.guidelines import default_guideline
from arqkit.protocols.scales import ARQMATH
from arqkit.records import TaskKind
from arqlab.core.models import AuditEvent
from assessment.guidelines.selectors.versions import guideline_text
from assessment.guidelines.services.rendering import changed_html, guideline_html
from assessment.guidelines.services.versions import (
    Decision,
    add_example,
    find_entry_item,
    item_of_instance,
    keep_entry,
    record_case,
    remove_entry,
    write_guideline,
)
from assessment.models import GuidelineEntry, Judgment, PoolInstance
from assessment.pools.services.changing import close_pool
from tests.assessment.factories import (
    NOW,
    assign,
    judge,
    make_formula_pool,
    make_pool,
    make_written_pool,
    raise_ticket,
)
from tests.assessment.judging.desk import Desk, body_for, label_for
from tests.assessment.rounds.factories import round_of, vote
from tests.collection.factories import load_small
from tests.factories import FormulaTaskFactory, TopicFactory, WrittenTaskFactory

pytestmark = pytest.mark.django_db
BASE = "/labs/arqmath-x/tasks/task1/guidelines/"


def plain(html: str) -> str:
    """Return the words of HTML, with the marks of changed words."""
    return " ".join(re.sub(r"<(?!/?(?:ins|del)>)[^>]*>", " ", html).split())


def write(task, text: str):
    return write_guideline(task=task, text=text, at=NOW, by=None)


def case(task, **fields):
    """Record a case about the word that a test looks for."""
    values = {"question": "Does restating count?", "decision": Decision("It does not.", label=0)}
    return record_case(task=task, **values | fields, at=NOW, by=None)


def test_added_and_removed_words_are_marked():
    html = changed_html("<p>Judge each answer alone.</p>", "<p>Judge each long answer.</p>")

    assert plain(html) == "Judge each <ins>long answer.</ins> <del>answer alone.</del>"


def test_a_changed_formula_is_typeset_before_and_after():
    html = changed_html("<p>Find $a^2$ and $b$.</p>", "<p>Find $a^3$ and $b$.</p>")

    changed = re.findall(r'<(ins|del)>.*?data-latex="(.*?)"', html)
    assert changed == [("ins", "a^3"), ("del", "a^2")]
    assert html.count('data-latex="b"') == 1


ROW = "<tr><td>{0}</td><td>label {0}</td></tr>\n"
TABLE = "<table>\n<thead><tr><th>Score</th></tr></thead>\n<tbody>\n{}</tbody>\n</table>\n"


def test_an_added_table_has_no_other_cells():
    table = TABLE.format(ROW.format(3) + ROW.format(2))
    html = changed_html("<p>Text.</p>", f"{table}<p>Text.</p>")

    assert re.findall(r"<t[dh]>(.*?)</t[dh]>", html) == [
        f"<ins>{text}</ins>" for text in ("Score", "3", "label 3", "2", "label 2")
    ]


def test_where_words_would_be_marked_wrongly_changed_lines_are_shown(task, assessor, client_of):
    rows = ROW.format(3), ROW.format(2)
    write(task, TABLE.format("".join(rows)))
    write(task, TABLE.format(rows[1]))

    page = client_of(assessor).get(f"{BASE}2/changes/").text
    removed = re.findall(r'<tr class="(removed|added)">.*?<td>(&lt;tr.*?)</td>\s*</tr>', page, re.S)
    assert removed == [
        ("removed", "&lt;tr&gt;&lt;td&gt;3&lt;/td&gt;&lt;td&gt;label 3&lt;/td&gt;&lt;/tr&gt;")
    ]


LABELS = default_guideline(TaskKind.ANSWERS, "arqmath-3", scale=ARQMATH, relevant_from=2)


@settings(max_examples=20)
@given(data=st.data())
def test_marked_words_are_those_that_were_added_and_removed(data):
    blocks = re.findall(r"<(?:p|li|tr)>.*?</(?:p|li|tr)>\n?", LABELS, re.DOTALL)
    after = LABELS
    for block in data.draw(st.lists(st.sampled_from(blocks), min_size=1, max_size=3)):
        other = data.draw(st.sampled_from(["", block * 2, block.replace("the", "any")]))
        after = after.replace(block, other, 1)

    html = changed_html(LABELS, after)
    assume(html is not None)
    old, new = (str(guideline_html(text)) for text in (LABELS, after))
    assert letters(re.sub("<ins>.*?</ins>", "", html, flags=re.DOTALL)) == letters(old)
    assert letters(re.sub("<del>.*?</del>", "", html, flags=re.DOTALL)) == letters(new)


def letters(html: str) -> str:
    """Return the characters that a reader sees, without space."""
    return "".join(re.sub("<[^>]*>", "", html).split())


def test_changed_guidelines_stay_sanitized():
    escaped = "&lt;script&gt;alert(1)&lt;/script&gt;"
    html = changed_html("<p>A</p>", f"<p>A {escaped}<script>x</script></p>")

    assert "<script" not in html
    assert "&lt;script&gt;alert(1)" in html


def test_a_case_waits_for_the_next_version_and_stays_in_it(task, assessor, client_of):
    write(task, "<p>Old.</p>")
    case(task)
    before = client_of(assessor).get(f"{BASE}1/").text
    write(task, "<p>Old.</p>")
    write(task, "<p>New.</p>")

    assert "restating" not in before
    assert ["restating" in client_of(assessor).get(f"{BASE}{n}/").text for n in (1, 2, 3)] == [
        *(False, True, True)
    ]


def test_several_cases_are_published_as_one_version(task, assessor, client_of):
    write(task, "<p>Old.</p>")
    for word in ("First", "Second"):
        case(task, question=f"{word}?")
    write(task, "<p>Old.</p>")

    added = client_of(assessor).get(f"{BASE}2/changes/").text.split('id="added"')[1]
    assert "First?" in added
    assert "Second?" in added
    assert "The text did not change." in added


def test_a_removed_entry_is_in_the_versions_before(task, assessor, client_of):
    entry = case(task)
    write(task, "<p>Text.</p>")
    remove_entry(entry=entry, by=None)
    write(task, "<p>Text.</p>")

    client = client_of(assessor)
    assert "restating" in client.get(f"{BASE}1/").text
    assert "restating" not in client.get(f"{BASE}2/").text
    assert "restating" in client.get(f"{BASE}2/changes/").text.split('id="removed"')[1]


def test_an_entry_can_be_kept_until_the_version_without_it_is_published(task):
    entry = case(task)
    write(task, "<p>Text.</p>")
    remove_entry(entry=entry, by=None)
    keep_entry(entry=entry, by=None)
    entry.refresh_from_db()
    assert entry.until is None

    remove_entry(entry=entry, by=None)
    write(task, "<p>Other.</p>")
    keep_entry(entry=entry, by=None)
    entry.refresh_from_db()
    assert entry.until == 2


def test_an_entry_that_no_version_has_is_deleted_and_audited(task, organizer):
    remove_entry(entry=case(task, item=find_entry_item(task, topic=None, item="")), by=organizer)

    assert not GuidelineEntry.objects.exists()
    event = AuditEvent.objects.get(verb="guideline.remove-entry")
    assert event.detail["question"] == "Does restating count?"
    assert event.actor == organizer


def test_an_item_is_copied_so_that_its_version_never_changes(lab, task, tmp_path):
    post = load_small(lab, tmp_path).posts.get(post_id="10")
    topic = task.topics.get(query_id="A.1")
    item = find_entry_item(task, topic=topic, item="10")
    entry = add_example(task=task, item=item, label=3, reason="Complete.", at=NOW, by=None)
    post.delete()
    topic.delete()

    entry.refresh_from_db()
    assert (entry.topic, entry.item) == ("A.1", "10")
    assert entry.item_html
    assert "The question of A.1" in entry.topic_html


def test_the_judged_formula_of_an_example_is_marked(lab, assessor, client_of, tmp_path):
    task = FormulaTaskFactory(lab=lab, slug="task2")
    TopicFactory(task=task, query_id="B.1", latex="x^2")
    load_small(lab, tmp_path)
    make_formula_pool(task, {"B.1": {"v1": [("8", "10")]}})
    instance = PoolInstance.objects.select_related("item__topic__task__lab").get(doc_id="8")
    item = item_of_instance(instance)
    add_example(task=task, item=item, label=2, reason="Close to $x^2$.", at=NOW, by=None)
    write(task, "<p>Text.</p>")

    page = client_of(assessor).get("/labs/arqmath-x/tasks/task2/guidelines/1/").text
    assert page.count('is-highlighted"') == page.count('<mark class="math-container') == 1
    assert page.count('data-latex="a=2b"') == 1


def test_an_example_from_a_generated_answer_does_not_tell_its_run(lab, assessor, client_of):
    task = WrittenTaskFactory(lab=lab, slug="task3")
    TopicFactory(task=task, query_id="A.9")
    make_written_pool(task, {"A.9": {"run7:A.9": "Use $y^2$.\nThen stop."}})
    item = find_entry_item(task, topic=None, item="run7:A.9")
    case(task, item=item)
    write(task, "<p>Text.</p>")

    page = client_of(assessor).get("/labs/arqmath-x/tasks/task3/guidelines/1/").text
    assert "Then stop." in page
    assert "run7" not in page


def test_assessors_do_not_see_who_decided_a_case(task, assessor, organizer, client_of):
    organizer.first_name = "Ada"
    organizer.save()
    decision = Decision("No.", origin=GuidelineEntry.Origin.TRAINING, place="Training round 2")
    record_case(task=task, question="Why?", decision=decision, at=NOW, by=organizer)
    write(task, "<p>Text.</p>")

    pages = [client_of(user).get(f"{BASE}1/").text for user in (assessor, organizer)]
    assert ["by Ada" in page for page in pages] == [False, True]
    assert all("Training round 2" in page for page in pages)


def judged(task, assessor, label: int, *, place: int = 0, **fields):
    instance = PoolInstance.objects.filter(item__topic__task=task).order_by("pk")[place]
    return judge(assessor, instance, label, **fields)


def test_the_judging_page_tells_that_the_guidelines_are_new(task, assessor, client_of):
    make_pool(task)
    assign(assessor, task.topics.get(query_id="A.1"))
    first = write(task, "<p>Old.</p>")
    judged(task, assessor, 1, guideline=first)
    client, address = client_of(assessor), "/labs/arqmath-x/tasks/task1/judge/A.1/"
    before = client.get(address).text
    second = write(task, "<p>New.</p>")
    changed = client.get(address).text
    judged(task, assessor, 1, guideline=second, place=1)

    assert ["judge-new" in page for page in (before, changed, client.get(address).text)] == [
        *(False, True, False)
    ]


def test_the_panel_marks_what_is_new_since_the_version_of_the_last_label(task, assessor, client_of):
    make_pool(task)
    case(task, question="Early?")
    judged(task, assessor, 1, guideline=write(task, "<p>Old words.</p>"))
    case(task, question="Late?")
    write(task, "<p>New words.</p>")

    panel = client_of(assessor).get(f"{BASE}2/panel/").text
    entries = panel.split("<article")[1:]
    assert plain(panel).count("<ins>New") == 1
    assert [("Late?" in each, "chip-unread" in each) for each in entries] == [
        (True, True),
        (False, False),
    ]
    assert f'{BASE}2/changes/?since=1"' in panel


def test_the_panel_tells_that_the_page_is_older_than_the_guidelines(task, assessor, client_of):
    write(task, "<p>Old.</p>")
    write(task, "<p>New.</p>")

    panel = client_of(assessor).get(f"{BASE}1/panel/").text
    assert "published version 2 since you opened this page" in panel
    assert "<p>Old.</p>" in panel


def rows_of(page) -> list:
    return [line.cells[0].row for line in page.context["labels"].lines]


def test_labels_before_a_change_are_listed_for_review(task, assessor, organizer, client_of):
    make_pool(task)
    judged(task, assessor, 2)
    judged(task, assessor, 0, guideline=write(task, "<p>Old.</p>"), place=1)
    case(task)
    judged(task, assessor, 0, guideline=write(task, "<p>Old.</p>"), place=2)

    client, address = client_of(organizer), f"{BASE}judgments/?before=2&amp;label=0"
    assert address in client.get(f"{BASE}2/changes/").text
    rows = rows_of(client.get(address.replace("&amp;", "&")))
    assert [(row.judgment.version, row.label.value) for row in rows] == [(1, 0)]
    default = rows_of(client.get(f"{BASE}judgments/?version=0"))
    assert [row.judgment.version for row in default] == [0]


def test_items_of_earlier_labels_return_to_be_judged_again(task, assessor, organizer, client_of):
    pool = make_pool(task)
    assign(assessor, task.topics.get(query_id="A.1"))
    first, second = (judged(task, assessor, 2, place=place) for place in range(2))
    reported = raise_ticket(assessor, PoolInstance.objects.order_by("pk")[2]).judgment
    client, address = client_of(organizer), f"{BASE}judgments/?version=0"

    page = client.post(address, {"judgments": [first.pk, reported.pk]}, follow=True).text
    assert "1 label no longer counts. The items are back in their topics." in page
    assert "1 label not returned" in page
    current = Judgment.objects.filter(is_current=True).order_by("pk")
    assert list(current) == [second, reported]
    assert Desk(assessor).next()["item"] == first.instance.item_id
    assert AuditEvent.objects.get(verb="judgments.return").detail["topics"] == ["A.1"]
    close_pool(pool=pool, by=organizer, at=NOW)
    client.post(address, {"judgments": [second.pk]})
    assert Judgment.objects.get(pk=second.pk).is_current


def test_labels_are_found_by_their_comments(task, assessor, organizer, client_of):
    make_pool(task)
    for place, comment in enumerate(["Only restates it.", "Proof is missing."]):
        judged(task, assessor, 1, place=place, comment=comment)

    rows = rows_of(client_of(organizer).get(f"{BASE}judgments/?q=restates"))
    assert [row.judgment.comment for row in rows] == ["Only restates it."]


def test_the_judging_page_asks_the_database_at_most_once_more_for_what_is_new(
    task, assessor, client_of, django_assert_max_num_queries
):
    make_pool(task)
    assign(assessor, task.topics.get(query_id="A.1"))
    judged(task, assessor, 1)
    client, address = client_of(assessor), "/labs/arqmath-x/tasks/task1/judge/A.1/"
    client.get(address)  # leases the items, and typesets the default text
    with CaptureQueriesContext(connection) as before:
        client.get(address)
    write(task, guideline_text(task, None) + "<p>New.</p>")

    with django_assert_max_num_queries(len(before) + 1):
        client.get(address)


def test_assessors_see_no_links_to_labels_of_others(task, assessor, client_of):
    write(task, "<p>Old.</p>")

    assert "guidelines/judgments/" not in client_of(assessor).get(f"{BASE}1/changes/").text


def test_a_page_prepared_for_offline_has_the_examples_and_cases(task, assessor, client_of):
    make_pool(task)
    assign(assessor, task.topics.get(query_id="A.1"))
    case(task)
    write(task, "<p>Text.</p>")
    client, address = client_of(assessor), "/labs/arqmath-x/tasks/task1/judge/A.1/"

    assert "restating" in client.get(f"{address}?offline").text
    assert "restating" not in client.get(address).text


def test_a_label_keeps_the_version_that_its_page_had_and_a_change_has_the_new_one(
    task, assessor, client_of
):
    make_pool(task)
    assign(assessor, task.topics.get(query_id="A.1"))
    desk, first = Desk(assessor), write(task, "<p>Old.</p>")
    item = desk.next()
    second = write(task, "<p>New.</p>")  # such as during an offline trip
    for label, guideline in ((2, first), (1, second)):
        rows = [label_for(item["instances"][0], label)]
        desk.post("judgments/", body_for(item, rows) | {"guideline": guideline.version})
        item = desk.get(f"items/{item['item']}/")

    assert list(Judgment.objects.values_list("label", "guideline__version")) == [(2, 1), (1, 2)]
    page = client_of(assessor).get("/labs/arqmath-x/tasks/task1/judge/A.1/judgments/").text
    assert 'aria-label="Guidelines, version 2"' in page


def test_labels_of_rounds_are_not_listed_but_tell_what_their_assessor_has_read(
    task, assessor, organizer, client_of
):
    make_pool(task)
    first = write(task, "<p>Old.</p>")
    made = round_of(task, "training", assessor, topics=["A.1"])
    vote(made, assessor, "10", 2, guideline=first)
    write(task, "<p>New.</p>")

    page = client_of(organizer).get(f"{BASE}judgments/")
    assert rows_of(page) == []
    assert "You last judged with version 1." in client_of(assessor).get(f"{BASE}2/panel/").text


def test_an_applicant_gets_the_examples_and_cases_with_the_page(task, outsider, client_of):
    make_pool(task)
    case(task)
    write(task, "<p>Text.</p>")
    round_of(task, "sample", outsider, topics=["A.1"])
    address = "/labs/arqmath-x/tasks/task1/rounds/sample-1/judge/A.1/"

    page = client_of(outsider).get(address).text
    assert "restating" in page
    assert '"guideline_url": ""' in page
    assert client_of(outsider).get(f"{BASE}1/panel/").status_code == 404


def test_a_ticket_tells_the_version_that_its_assessor_followed(
    task, assessor, organizer, client_of
):
    make_pool(task)
    ticket = raise_ticket(assessor, PoolInstance.objects.order_by("pk").first())
    Judgment.objects.update(guideline=write(task, "<p>Text.</p>"))

    page = client_of(organizer).get(f"/labs/arqmath-x/tickets/{ticket.pk}/").text
    assert f'<a href="{BASE}1/">Version 1</a>' in page
