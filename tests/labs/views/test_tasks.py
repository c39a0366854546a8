"""The pages of a task and its topics, through the door."""

import re
from datetime import UTC, datetime

import pytest

from arqkit.protocols.presets import PROTOCOLS
from arqkit.records import TaskKind
from arqlab.core.models import AuditEvent, Lab, Task, Topic
from tests.desk.views.test_home import text_of
from tests.factories import FormulaTaskFactory, TopicFactory, WrittenTaskFactory

TASK = "/labs/arqmath-x/tasks/task1/"
FORM = {
    "name": "Answer retrieval",
    "limit": "1000",
    "quota": "5",
    "order": "score",
    "measures": "\r\n".join(PROTOCOLS["arqmath-3"].tasks[TaskKind.ANSWERS].measures),
}


def test_a_task_shows_its_rules_in_words(scene, client):
    page = text_of(client.get(TASK))

    assert "Query_Id, Post_Id, Rank, Score, Run_Number" in page
    assert "at most 1,000" in page
    assert "at most 5 valid runs, one of which is primary" in page
    assert "nDCG′</span> (main measure)" in page
    assert "relevant from 2" in page


def test_a_task_is_pooled_and_scored_in_two_orders_that_its_organizer_chooses(scene, client_of):
    client_of(scene.organizer).post(TASK + "edit/", FORM | {"pooling_order": "rank"})

    page = re.sub(r"\s+", " ", text_of(client_of(scene.organizer).get(TASK)))
    assert Task.objects.get().overrides == {"pooling_order": "rank"}
    assert "<dt>Pooling order</dt> <dd> by submitted rank </dd>" in page
    assert "<dt>Scoring order</dt> <dd> by score" in page


@pytest.mark.parametrize(
    ("factory", "said"),
    [
        (FormulaTaskFactory, "Query_Id, Formula_Id, Post_Id, Rank, Score, Run_Number"),
        (WrittenTaskFactory, "at most 1,200 Unicode characters"),
    ],
)
def test_each_kind_of_task_has_its_own_format(scene, client, factory, said):
    factory(lab=scene.lab, slug="task2")

    assert said in text_of(client.get("/labs/arqmath-x/tasks/task2/"))


def test_a_task_in_trecs_format_only_shows_no_other_columns(scene, client):
    Task.objects.update(overrides={"trec_only": True})

    page = text_of(client.get(TASK))

    assert "topic Q0 item rank score tag" in page
    assert "Query_Id" not in page


def test_a_task_of_documents_names_the_format_without_scores(scene, client):
    Lab.objects.update(protocol="ntcir-12")
    Task.objects.update(kind="documents", trec_items="documents", overrides={"trec_only": False})

    page = text_of(client.get(TASK))

    assert "MS MARCO columns" in page
    assert "qid, pid, rank" in page


def test_a_closed_task_without_a_pool_leads_its_organizer_to_the_plan(scene, client_of):
    Task.objects.update(closed_at=datetime(2026, 5, 2, tzinfo=UTC))

    page = text_of(client_of(scene.organizer).get(TASK))

    [action] = re.findall(r'btn btn-primary"\s+href="[^"]*">\s*([^<]*?)\s*<', page)
    assert action == "Plan pool"


def test_a_task_without_topics_lets_its_organizer_load_them(scene, client_of):
    Topic.objects.all().delete()

    assert "load/topics/" in text_of(client_of(scene.organizer).get(TASK))
    assert "load/topics/" not in text_of(client_of(scene.member).get(TASK))


def test_a_deadline_appears_in_utc_and_anywhere_on_earth(scene, client):
    Task.objects.update(deadline=datetime(2127, 5, 2, 11, 59, tzinfo=UTC))

    page = text_of(client.get(TASK))

    assert "1 May 2127, 23:59 anywhere on earth" in page
    assert 'datetime="2127-05-02T11:59:00Z"' in page


@pytest.mark.parametrize(
    ("opens", "closes", "state"),
    [(None, None, "open"), (2000, 2001, "closed"), (2900, 2901, "upcoming"), (2000, 2900, "open")],
)
def test_a_task_shows_its_state(scene, client_of, opens, closes, state):
    moment = {"opens_at": opens, "deadline": closes}
    Task.objects.update(
        **{name: year and datetime(year, 1, 1, tzinfo=UTC) for name, year in moment.items()}
    )

    assert f"chip-{state}" in text_of(client_of(scene.organizer).get(TASK))


def test_an_unknown_task_is_404(scene, client):
    assert client.get("/labs/arqmath-x/tasks/task9/").status_code == 404


def test_the_form_shows_what_holds_and_what_the_preset_has(scene, client_of):
    Task.objects.update(overrides={"quota": 7})

    page = text_of(client_of(scene.organizer).get(TASK + "edit/"))

    assert 'name="quota" value="7"' in page
    assert "Preset arqmath-3: 5." in page


def test_saving_the_form_as_it_is_overrides_nothing(scene, client_of):
    response = client_of(scene.organizer).post(TASK + "edit/", FORM)

    assert response.url == TASK
    assert Task.objects.get().overrides == {}


def test_line_ends_of_the_browser_change_nothing(scene, client_of):
    Task.objects.update(description="One.\n\nTwo.")

    client_of(scene.organizer).post(TASK + "edit/", FORM | {"description": "One.\r\n\r\nTwo."})

    assert not AuditEvent.objects.exists()


def test_an_organizer_sets_dates_in_utc_and_rules(scene, client_of):
    form = FORM | {
        "deadline": "2127-05-02T11:59:59",
        "quota": "7",
        "measures": "AP\nP@5",
        "shows_own_scores": "on",
    }

    client_of(scene.organizer).post(TASK + "edit/", form)

    task = Task.objects.get()
    assert task.deadline == datetime(2127, 5, 2, 11, 59, 59, tzinfo=UTC)
    assert (task.protocol.quota, task.protocol.measures, task.shows_own_scores) == (
        7,
        ("AP", "P@5"),
        True,
    )


def test_an_organizer_sets_a_judging_deadline_which_is_audited(scene, client_of):
    form = FORM | {"judging_deadline": "2127-06-01T23:59", "judging_deadline_zone": "Etc/GMT+12"}

    client_of(scene.organizer).post(TASK + "edit/", form)

    assert Task.objects.get().judging_deadline == datetime(2127, 6, 2, 11, 59, tzinfo=UTC)
    changes = AuditEvent.objects.get(verb="task.change").detail["changes"]
    assert changes["judging_deadline"] == [None, "2127-06-01T23:59:00-12:00"]


def test_an_organizer_chooses_which_runs_everyone_may_open(scene, client_of):
    client = client_of(scene.organizer)
    client.post(TASK + "edit/", FORM | {"published_runs": "primary"})
    client.post(TASK + "edit/", FORM)  # by a program that does not know the setting

    assert Task.objects.get().published_runs == "primary"
    assert "primary runs and baselines: rankings with labels" in text_of(client.get(TASK))


def test_zero_is_a_value_and_not_an_empty_field(scene, client_of):
    client_of(scene.organizer).post(TASK + "edit/", FORM | {"min_relevant": "0"})

    assert Task.objects.get().overrides == {"min_relevant": 0}


def test_an_emptied_field_goes_back_to_the_preset(scene, client_of):
    Task.objects.update(overrides={"quota": 7, "measures": ["AP"]})

    client_of(scene.organizer).post(TASK + "edit/", {"name": "Answers"})

    assert Task.objects.get().overrides == {}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"name": ""}, "Enter a task name."),
        ({"measures": "nDGC@10"}, "Unknown measure &#x27;nDGC@10&#x27;"),
        ({"measures": "AP\nAP(rel=2)"}, "would have the same heading, MAP"),
        ({"quota": "0"}, "Enter a whole number of at least 1 for"),
        ({"min_relevant": "-1"}, "Enter a whole number of at least 0 for relevant items"),
        (
            {"opens_at": "2127-05-02T12:00", "deadline": "2127-05-02T11:00"},
            "The task opens after its deadline.",
        ),
        ({"deadline": "tomorrow"}, "Enter a valid date/time."),
        (
            {"deadline": "2127-05-02T11:00", "judging_deadline": "2127-05-01T11:00"},
            "The judging deadline is before the task closes for submission.",
        ),
    ],
)
def test_what_cannot_be_is_sent_back_with_a_sentence(scene, client_of, wrong, said):
    page = text_of(client_of(scene.organizer).post(TASK + "edit/", FORM | wrong))

    assert "There is a problem" in page
    assert said in page
    assert Task.objects.get().overrides == {}


def test_topics_are_listed_typeset_in_their_order(scene, client, django_assert_max_num_queries):
    Topic.objects.filter(query_id="A.2").update(title_html="<math><mi>x</mi></math>")

    with django_assert_max_num_queries(2):
        page = text_of(client.get(TASK + "topics/"))

    assert "<math><mi>x</mi></math>" in page
    assert page.index("A.1</a>") < page.index("A.2</a>")


def test_topics_are_searched_by_words_but_not_by_markup(scene, client):
    TopicFactory(task=scene.task, query_id="A.3", title="<b>Limits</b> of sums", tags=["analysis"])

    assert "1 row. " in text_of(client.get(TASK + "topics/?q=limits+ANALYSIS"))
    assert "No matching topics" in text_of(client.get(TASK + "topics/?q=<b>"))


def test_topics_are_chosen_by_their_information(scene, client):
    TopicFactory(task=scene.task, query_id="A.3", info={"category": "proof", "difficulty": "hard"})

    page = text_of(client.get(TASK + "topics/?category=proof"))

    assert "A.3</a>" in page
    assert "A.1</a>" not in page
    assert '<option value="proof" selected>' in page


def test_a_task_without_topics_shows_a_message(scene, client):
    Topic.objects.all().delete()

    assert "No topics yet" in text_of(client.get(TASK + "topics/"))


def test_a_topic_shows_its_question_and_its_neighbours(scene, client):
    page = text_of(client.get(TASK + "topics/A.1/"))

    assert "<p>The question of A.1</p>" in page
    assert "A.2 →" in page
    assert "←" not in page


def test_what_reveals_judgments_is_for_organizers(scene, client, client_of):
    Topic.objects.filter(query_id="A.1").update(info={"category": "proof", "HM": "25 of 351"})

    assert "25 of 351" not in text_of(client.get(TASK + "topics/A.1/"))
    assert "proof" in text_of(client.get(TASK + "topics/A.1/"))
    assert "25 of 351" in text_of(client_of(scene.organizer).get(TASK + "topics/A.1/"))


def test_an_unknown_topic_is_404(scene, client):
    assert client.get(TASK + "topics/A.9/").status_code == 404


@pytest.mark.parametrize(
    ("form", "overrides", "relevant_from"),
    [
        ({"labels": "trec-binary", "relevant_from": "2"}, {"labels": "trec-binary"}, 1),
        ({"labels": "ntcir"}, {"labels": "ntcir"}, 3),
        ({"labels": "arqmath"}, {}, 2),
        ({"labels": "0-2", "relevant_from": "1"}, {"labels": "0-2", "relevant_from": 1}, 1),
        ({"relevant_from": "3"}, {"relevant_from": 3}, 3),
    ],
)
def test_an_organizer_sets_the_labels(scene, client_of, form, overrides, relevant_from):
    client_of(scene.organizer).post(TASK + "edit/", FORM | form)

    task = Task.objects.get()
    assert task.overrides == overrides
    assert task.protocol.relevant_from == relevant_from


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"labels": "many"}, "Unknown labels. Enter"),
        ({"labels": "own"}, "Unknown labels. Enter"),
        ({"labels": "0-1", "relevant_from": "3"}, "No label is relevant: the highest is 1."),
        ({"relevant_from": "4"}, "No label is relevant: the highest is 3."),
        ({"relevant_from": "0"}, "Enter a whole number of at least 1 for relevant label"),
    ],
)
def test_wrong_labels_are_sent_back(scene, client_of, form, said):
    assert said in text_of(client_of(scene.organizer).post(TASK + "edit/", FORM | form))
    assert Task.objects.get().overrides == {}


def test_labels_of_the_tasks_own_stay_when_the_form_is_saved(scene, client_of):
    rows = PROTOCOLS["arqmath-3"].tasks[TaskKind.ANSWERS].labels.rows()
    Task.objects.update(overrides={"labels": rows[:2]})

    page = text_of(client_of(scene.organizer).get(TASK + "edit/"))
    client_of(scene.organizer).post(TASK + "edit/", FORM | {"labels": "own"})

    assert 'name="labels" value="own"' in page
    assert "Preset arqmath-3: 3 High, 2 Medium, 1 Low" in page
    assert Task.objects.get().overrides == {"labels": rows[:2]}
