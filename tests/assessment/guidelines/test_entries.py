"""Organizers collect examples and cases, and publish them as one version."""

import pytest

from arqlab.core.models import AuditEvent
from arqlab.labs.services.corrections import save_correction
from assessment.guidelines.selectors.versions import current_guideline
from assessment.guidelines.services.versions import write_guideline
from assessment.models import GuidelineEntry, PoolInstance
from tests.assessment.factories import NOW, judge, make_pool
from tests.collection.factories import load_small
from tests.factories import FormulaTaskFactory

pytestmark = pytest.mark.django_db
EDIT = "/labs/arqmath-x/tasks/task1/guidelines/"
LIST = f"{EDIT}entries/"
ADD = f"{LIST}add/"
CASE = {"question": "Does $a^2$ count?", "decision": "It does.", "label": "1", "reason": "Why."}


@pytest.fixture
def client(lab, organizer, client_of, tmp_path):
    """The organizer's browser, in a lab with a small collection."""
    load_small(lab, tmp_path)
    return client_of(organizer)


def test_an_example_is_found_by_a_search_and_collected(client, task):
    page = client.get(ADD, {"q": "since"}).text
    assert 'href="?q=since&amp;item=10#chosen"' in page
    assert 'data-latex="a=2b"' in client.get(ADD, {"item": "10"}).text.split('id="chosen"')[1]

    given = {"topic": "A.1", "item": "10", "label": "2", "reason": "A path."}
    page = client.post(ADD, given, follow=True).text

    entry = GuidelineEntry.objects.get()
    assert (entry.kind, entry.topic, entry.item, entry.label) == ("example", "A.1", "10", 2)
    assert entry.since == 1
    assert "Publish version 1" in page


def test_an_example_has_the_text_as_the_lab_corrected_it(client, lab, task, organizer):
    make_pool(task, {"A.1": ["11"]})
    for key, value in (("10", "<p>Now $a=2b$.</p>"), ("11", "<p>See here.</p>")):
        save_correction(lab=lab, kind="text", key=key, value=value, at=NOW, by=organizer)

    for item in ("10", "11"):
        client.post(ADD, {"item": item, "label": "2", "reason": "A path."})
    first, second = GuidelineEntry.objects.values_list("item_html", flat=True).order_by("pk")
    assert "Now <span" in first
    assert "See here." in second


def test_an_example_of_a_formula_is_chosen_from_its_post(client, lab):
    FormulaTaskFactory(lab=lab, slug="task2")
    add = ADD.replace("task1", "task2")

    assert 'href="?q=even&amp;post=1#chosen"' in client.get(add, {"q": "even"}).text
    assert 'href="?item=8#chosen"' in client.get(add, {"post": "10"}).text
    client.post(add, {"item": "8", "label": "3", "reason": "The same."})

    entry = GuidelineEntry.objects.get()
    assert (entry.post_id, entry.formula_id) == ("10", "8")


def test_a_case_needs_no_item_and_no_label(client, task):
    client.post(f"{ADD}?kind=case", CASE | {"label": "", "place": "Meeting"})

    entry = GuidelineEntry.objects.get()
    assert (entry.kind, entry.label, entry.place) == ("case", None, "Meeting")
    assert "<msup>" in client.get(LIST).text


@pytest.mark.parametrize(
    ("address", "change", "said"),
    [
        (f"{ADD}?kind=case", {"question": " "}, "This field is required."),
        (f"{ADD}?kind=case", {"item": "404"}, "No item with the id 404 is in a pool"),
        (ADD, {"item": "10", "label": ""}, "This field is required."),
        (ADD, {"item": "10", "label": "7"}, "7 is not one of the available choices."),
    ],
)
def test_an_incomplete_entry_is_refused_and_what_was_typed_stays(
    client, task, address, change, said
):
    page = client.post(address, CASE | change).text

    assert said in page
    assert "Why." in page
    assert not GuidelineEntry.objects.exists()


def test_collected_entries_are_published_as_one_version_with_the_same_text(client, task):
    write_guideline(task=task, text="<p>Text.</p>", at=NOW, by=None)
    for _ in range(2):
        client.post(f"{ADD}?kind=case", CASE)
    assert "adds 2 and removes 0" in client.get(EDIT).text

    page = client.post(LIST, {"publish": "yes"}, follow=True).text

    assert "Assessors now follow version 2." in page
    assert current_guideline(task).text == "<p>Text.</p>\n"
    assert "Nothing was changed" in client.post(LIST, {"publish": "yes"}, follow=True).text


def test_the_first_version_of_entries_has_the_default_text(client, task):
    client.post(f"{ADD}?kind=case", CASE)
    client.post(LIST, {"publish": "yes"})

    assert "is sufficient to answer the complete question" in current_guideline(task).text


def test_an_entry_is_removed_and_kept_by_buttons(client, task):
    client.post(f"{ADD}?kind=case", CASE)
    client.post(LIST, {"publish": "yes"})
    entry = GuidelineEntry.objects.get()

    client.post(LIST, {"remove": entry.pk})
    assert "Removed in version 2" in client.get(LIST).text
    client.post(LIST, {"keep": entry.pk})
    assert "Nothing to publish" in client.get(LIST).text
    assert AuditEvent.objects.filter(verb__startswith="guideline.").count() == 4


def test_the_versions_count_their_labels(client, task, assessor):
    make_pool(task)
    guideline = write_guideline(task=task, text="<p>Text.</p>", at=NOW, by=None)
    first, second, third = PoolInstance.objects.order_by("pk")[:3]
    judge(assessor, first, 1)
    judge(assessor, second, 1, guideline=guideline)
    judge(assessor, third, 1, is_imported=True)

    page = client.get(EDIT)
    columns = page.context["versions"].columns[-2:]
    rows = page.context["versions"].rows
    assert [[column.value(row) for column in columns] for row in rows] == [[1, 1], [1, 0]]
    assert page.context["unknown_labels"] == 1
    assert f'href="{EDIT}judgments/?before=1">1</a>' in page.text


def test_the_editor_names_the_labels_that_the_text_does_not_define(client, task):
    assert "does not mention" not in client.get(EDIT).text
    write_guideline(task=task, text="<p>Below: high, MEDIUM.</p>", at=NOW, by=None)

    words = "Low, Not relevant, System failure, Do not know"
    assert f"The text does not mention {words}." in client.get(EDIT).text
