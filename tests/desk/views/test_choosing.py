"""Organizers choose topics in the browser, as with `make_topics`."""

import io
import zipfile
from io import StringIO

import pytest
from django.core.management import call_command

from arqlab.core.models import Job, Task, Topic
from collection.models import Collection, LabCollection
from tests.collection.factories import make_dump
from tests.desk.views.test_home import text_of
from tests.desk.views.test_loads import file, media, post  # noqa: F401
from tests.factories import FormulaTaskFactory

CANDIDATES = "/labs/arqmath-x/topic-candidates/"
FILTERS = {"which": "later", "alike": "0.8"}


@pytest.fixture
def dump(scene) -> Collection:
    collection = make_dump()
    LabCollection.objects.create(lab=scene.lab, collection=collection)
    return collection


@pytest.fixture
def formulas(scene) -> Task:
    return FormulaTaskFactory(lab=scene.lab, slug="task2")


@pytest.fixture
def listed(scene, dump, post) -> Job:  # noqa: F811
    return post(scene.organizer, CANDIDATES, **FILTERS)


def by_command(*arguments: str, **options: str) -> str:
    out = StringIO()
    call_command("make_topics", "dump", *arguments, stdout=out, stderr=StringIO(), **options)
    return out.getvalue()


@pytest.mark.parametrize(
    ("filters", "arguments"),
    [
        ({}, []),
        ({"score": "2.."}, ["--score", "2.."]),
        ({"score": "2"}, ["--score", "2"]),
        ({"last_day": "2019-01-02"}, ["--dates", "..2019-01-02"]),
        ({"which": "searched", "unlinked": "on"}, ["--from", "searched", "--unlinked"]),
        ({"related": "on", "which": "all"}, ["--related", "--from", "all"]),
    ],
)
def test_the_candidates_are_those_of_the_command(
    scene,
    dump,
    post,  # noqa: F811
    client_of,
    filters,
    arguments,
):
    load = post(scene.organizer, CANDIDATES, **FILTERS | filters)

    response = client_of(scene.organizer).get(f"/loads/{load.pk}/candidates.csv")

    assert response.content.decode() == by_command(*arguments)


def test_each_filter_reports_how_many_questions_it_left_out(scene, dump, post):  # noqa: F811
    load = post(scene.organizer, CANDIDATES, **FILTERS, score="2")

    assert load.summary[0] == "3 questions."
    assert "2 left out: score out of bounds." in load.summary
    assert load.summary[-1] == "1 candidate."


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"score": "many"}, "many is not a range."),
        ({"alike": "2"}, "less than or equal to 1"),
        ({"which": "none"}, "none is not one of the available choices"),
    ],
)
def test_a_wrong_filter_is_sent_back(scene, dump, client_of, wrong, said):
    page = text_of(client_of(scene.organizer).post(CANDIDATES, FILTERS | wrong))

    assert said in page
    assert not Job.objects.exists()


def test_without_a_collection_there_are_no_candidates(scene, post):  # noqa: F811
    load = post(scene.organizer, CANDIDATES, **FILTERS)

    assert load.message.startswith("The lab has no collection.")


def test_the_chosen_questions_become_topics_of_both_tasks(
    scene,
    listed,
    formulas,
    post,  # noqa: F811
    django_capture_on_commit_callbacks,
):
    load = post(
        scene.organizer,
        f"/loads/{listed.pk}/topics/",
        posts=["102", "103"],
        first="401",
        questions=scene.task.pk,
        formulas=formulas.pk,
    )

    assert load.task == scene.task
    assert list(scene.task.topics.values_list("query_id", "thread_id")[2:]) == [
        ("A.401", "102"),
        ("A.402", "103"),
    ]
    assert list(formulas.topics.values_list("query_id", "latex")) == [
        ("B.401", "x^2+1"),
        ("B.402", "x^2+1"),
    ]


def test_the_files_are_those_of_the_command(scene, listed, client_of, tmp_path):
    response = client_of(scene.organizer).post(
        f"/loads/{listed.pk}/topics/",
        {"posts": ["103", "102", "101"], "first": "401", "download": "yes"},
    )

    chosen, folder = tmp_path / "chosen.csv", tmp_path / "topics"
    chosen.write_text("post_id\n103\n102\n101\n")
    by_command("--chosen", str(chosen), "--first", "401", "--out", str(folder))
    with zipfile.ZipFile(io.BytesIO(response.getvalue())) as archive:
        found = {name: archive.read(name) for name in archive.namelist()}
    assert found == {path.name: path.read_bytes() for path in folder.iterdir()}


def test_an_edited_list_brings_numbers_and_information(scene, listed, post):  # noqa: F811
    post(
        scene.organizer,
        f"/loads/{listed.pk}/topics/",
        file=file("chosen.csv", "post_id,topic,category\n103,A.450,proof\n"),
        first="401",
        questions=scene.task.pk,
    )

    topic = Topic.objects.get(query_id="A.450")
    assert (topic.thread_id, topic.info["category"]) == ("103", "proof")


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"posts": []}, "Choose at least one question"),
        ({"questions": ""}, "Choose the task that gets the topics."),
        ({"posts": ["7"]}, "7 is not one of the available choices"),
        ({"first": "0"}, "greater than or equal to 1"),
        ({"file": file("chosen.csv", "post_id\n7\n9\n")}, "a question of the collection dump"),
    ],
)
def test_a_wrong_choice_is_sent_back(scene, listed, client_of, form, said):
    sent = {"posts": ["102"], "first": "401", "questions": scene.task.pk} | form

    page = text_of(client_of(scene.organizer).post(f"/loads/{listed.pk}/topics/", sent))

    assert said in page
    assert scene.task.topics.count() == 2


def test_the_table_shows_the_best_first_and_the_next_number(scene, listed, client_of):
    page = text_of(client_of(scene.organizer).get(f"/loads/{listed.pk}/topics/"))

    assert page.index('value="103"') < page.index('value="102"') < page.index('value="101"')
    assert 'name="first" value="3"' in page


def test_another_load_has_no_candidates(scene, listed, client_of):
    Job.objects.update(kind="visual-ids")

    assert client_of(scene.organizer).get(f"/loads/{listed.pk}/topics/").status_code == 404
