"""Organizers edit topic information in a table that is saved as one form, and through a file."""

import html
import json
import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from arqlab.core.models import Task, Topic

pytestmark = pytest.mark.django_db


@pytest.fixture
def organizing(client_of, organizer):
    return client_of(organizer)


def path(name="topic-information", task="task1"):
    return reverse(f"labs:{name}", args=["arqmath-x", task])


def seen(client):
    """What the page shows and sends back: the hidden field, and the value of every select."""
    page = client.get(path()).content.decode()
    was = html.unescape(re.search(r'name="was" value="([^"]*)"', page)[1])
    values = {
        f"{field}:{topic}": value
        for topic, facts in json.loads(was).items()
        for field, value in facts.items()
    }
    return {"was": was, **values}


def upload(client, text, name="info.csv"):
    file = SimpleUploadedFile(name, text.encode())
    return client.post(path("topic-information-upload"), {"file": file})


def preview(client, text):
    page = upload(client, text).content.decode()
    kept = re.search(r'name="changes" value="([^"]*)"', page)
    return page, json.loads(html.unescape(kept[1])) if kept else []


def test_the_table_has_every_topic_with_its_choices(organizing, task):
    task.topics.filter(query_id="A.1").update(
        info={"category": "riddle"}, title_html="<b>Typeset</b>"
    )
    page = organizing.get(path()).content.decode()

    assert "<b>Typeset</b>" in page
    assert '<option value="riddle" selected>riddle</option>' in page
    assert '<select name="multi_part:A.2" aria-label="Multi-Part of A.2">' in page


def test_a_formula_task_has_complexity_and_elements(organizing, task):
    Task.objects.filter(pk=task.pk).update(kind="formulas")
    task.topics.filter(query_id="A.1").update(info={"elements": "integral"})
    page = organizing.get(path()).content.decode()

    assert 'name="complexity:A.1"' in page
    assert 'value="integral"' in page
    assert "difficulty:" not in page


def test_only_what_was_changed_is_written(organizing, task):
    task.topics.update(info={"category": "riddle"})
    answer = organizing.post(path(), seen(organizing) | {"difficulty:A.1": "hard"}, follow=True)

    assert "Saved the information of 1 topic." in answer.content.decode()
    assert list(task.topics.values_list("info_edits", flat=True)) == [{"difficulty": "hard"}, {}]


def test_saving_what_is_there_shows_that_nothing_changed(organizing, task):
    answer = organizing.post(path(), seen(organizing), follow=True)

    assert "Nothing changed: the topics already have these values." in answer.content.decode()


def test_an_edit_is_marked_with_the_folders_value(organizing, task):
    task.topics.filter(query_id="A.1").update(
        info={"difficulty": "easy"}, info_edits={"difficulty": "hard"}
    )
    page = organizing.get(path()).content.decode()

    assert "folder: easy" in page


def test_a_change_of_another_user_is_reported_and_what_was_chosen_stays(organizing, task):
    before = seen(organizing)
    task.topics.filter(query_id="A.1").update(info_edits={"difficulty": "easy"})
    page = organizing.post(
        path(), before | {"difficulty:A.1": "hard", "category:A.2": "proof"}
    ).content.decode()

    assert "A.1 was changed by another user after you opened this page." in page
    assert '<option value="hard" selected>hard</option>' in page
    assert '<option value="proof" selected>proof</option>' in page
    assert "now: easy" in page
    assert Topic.objects.get(query_id="A.2").info_edits == {}


def test_saving_again_after_a_look_goes_through(organizing, task):
    before = seen(organizing)
    task.topics.filter(query_id="A.1").update(info_edits={"difficulty": "easy"})
    page = organizing.post(path(), before | {"difficulty:A.1": "hard"}).content.decode()
    was = html.unescape(re.search(r'name="was" value="([^"]*)"', page)[1])
    organizing.post(path(), before | {"difficulty:A.1": "hard", "was": was})

    assert Topic.objects.get(query_id="A.1").facts == {"difficulty": "hard"}


@pytest.mark.parametrize(
    "was",
    [
        *("", "[1", "[]", '{"A.1": 3}', '{"A.1": {"difficulty": 3}}', "3", "[" * 200_000),
        r'{"\ud800": {"difficulty": ""}}',
    ],
)
def test_a_form_that_did_not_come_whole_saves_nothing(organizing, task, was):
    answer = organizing.post(path(), {"was": was, "difficulty:A.1": "hard"})

    assert "is incomplete" in answer.content.decode()
    assert Topic.objects.get(query_id="A.1").info_edits == {}


def test_two_hundred_topics_fit_into_one_form(organizing, task):
    Topic.objects.bulk_create(
        Topic(task=task, query_id=f"A.{n}", position=n) for n in range(3, 401)
    )
    answer = organizing.post(path(), seen(organizing) | {"difficulty:A.400": "hard"})

    assert answer.status_code == 302


def test_what_is_downloaded_can_be_uploaded_and_changes_nothing(organizing, task):
    task.topics.filter(query_id="A.1").update(info_edits={"category": "a free, quoted value"})
    answer = organizing.get(path("topic-information-csv"))

    assert answer["Content-Disposition"] == 'attachment; filename="arqmath-x-task1-topic-info.csv"'
    assert answer.content.startswith(
        b'Topic,Category,Difficulty,Dependency,Multi-Part,Split\nA.1,"a free, quoted value",'
    )
    assert "The file changes nothing." in preview(organizing, answer.content.decode())[0]


def test_a_file_is_shown_before_it_is_applied(organizing, task):
    page, changes = preview(
        organizing, "Topic,AssessorId,Difficulty,Category\nA.1,7,High,Calculation\n"
    )

    assert changes == [["A.1", "category", "", "computation"], ["A.1", "difficulty", "", "hard"]]
    assert "The file changes 2 values of 1 topic" in page
    assert Topic.objects.get(query_id="A.1").info_edits == {}


def test_what_was_shown_is_applied(organizing, task):
    _, changes = preview(organizing, "Topic,Difficulty\nA.1,High\nA.2,Low\n")
    answer = organizing.post(
        path("topic-information-apply"), {"changes": json.dumps(changes)}, follow=True
    )

    assert "Saved the information of 2 topics." in answer.content.decode()
    assert Topic.objects.get(query_id="A.2").facts == {"difficulty": "easy"}


def test_every_problem_of_a_file_is_reported_by_line_and_the_rest_can_be_applied(organizing, task):
    text = f"Topic,Difficulty\nA.1,High\nA.2,Low,more\nA.11,Low\nA.1,Low\nA.2,{'x' * 101}\n"
    page, changes = preview(organizing, text)

    assert changes == [["A.1", "difficulty", "", "hard"]]
    assert re.findall(r'<td class="num">(\d+)</td>', page) == ["3", "4", "5", "6"]
    assert "Did you mean A.1?" in page


def test_an_empty_cell_takes_a_value_away_and_a_column_that_is_missing_nothing(organizing, task):
    task.topics.filter(query_id="A.1").update(info={"difficulty": "easy", "category": "proof"})
    _, changes = preview(organizing, "Topic,Difficulty\nA.1,\n")

    assert changes == [["A.1", "difficulty", "easy", ""]]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Nothing\n1\n", "a column Topic"),
        ("Topic,Assessor\nA.1,7\n", "These are assignments"),
        ("{", "invalid JSON"),
        ("", "The file is empty."),
        ("Topic,Difficulty\nA.1,\x00\n", "a null byte"),
        ("x" * 1_100_000, "at most 1,048,576"),
    ],
)
def test_a_file_in_another_format_is_reported(organizing, task, text, told):
    page, changes = preview(organizing, text)

    assert told in page
    assert changes == []


def test_a_change_between_preview_and_apply_is_not_overwritten(organizing, task):
    _, changes = preview(organizing, "Topic,Difficulty\nA.1,High\n")
    task.topics.filter(query_id="A.1").update(info_edits={"difficulty": "easy"})
    page = organizing.post(
        path("topic-information-apply"), {"changes": json.dumps(changes)}
    ).content.decode()

    assert "A.1 was changed by another user" in page
    assert "[&quot;A.1&quot;, &quot;difficulty&quot;, &quot;easy&quot;, &quot;hard&quot;]" in page
    assert Topic.objects.get(query_id="A.1").facts == {"difficulty": "easy"}


@pytest.mark.parametrize(
    "sent",
    [
        *("", "[[1]]", "[3]", '[["A.1", "difficulty", "", 3]]', "{}x", "[" * 200_000),
        *(rf'[["A.1", "difficulty", "", "{odd}"]]' for odd in (r"\u0000", r"\ud800")),
    ],
)
def test_changes_that_no_page_wrote_change_nothing(organizing, task, sent):
    answer = organizing.post(path("topic-information-apply"), {"changes": sent}, follow=True)

    assert "is incomplete" in answer.content.decode()


def test_the_list_of_topics_leads_organizers_here(organizing, client_of, member):
    topics = reverse("labs:topic-list", args=["arqmath-x", "task1"])

    assert path() in organizing.get(topics).content.decode()
    assert path() not in client_of(member).get(topics).content.decode()


def test_edits_appear_on_the_pages_of_topics(organizing, task):
    task.topics.filter(query_id="A.1").update(
        info={"difficulty": "easy"}, info_edits={"difficulty": "hard"}
    )
    page = organizing.get(
        reverse("labs:topic-detail", args=["arqmath-x", "task1", "A.1"])
    ).content.decode()

    assert "hard" in page
    found = organizing.get(
        reverse("labs:topic-list", args=["arqmath-x", "task1"]), {"difficulty": "hard"}
    )
    assert [row["query_id"] for row in found.context["topics"].rows_here] == ["A.1"]
