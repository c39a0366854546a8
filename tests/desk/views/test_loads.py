"""Organizers load labs, topics, qrels, judgments and collections on pages."""

import io
import re
import tarfile
import zipfile
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth.models import Permission
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command, get_commands, load_command_class
from django.utils import timezone

from arqkit.texts.maths.typesetting import ENGINE
from arqlab.core.models import (
    MOST_ATTEMPTS,
    STALE_JOB,
    AuditEvent,
    Job,
    Lab,
    Membership,
    Task,
    Topic,
)
from arqlab.jobs.services import jobs
from arqlab.jobs.services.jobs import release_dead_jobs, run_waiting_job
from arqlab.jobs.tasks import run_waiting_jobs
from arqlab.labs.management.labcommand import LoadCommand
from arqlab.web.jobs import JOB_KINDS, JobKind
from assessment.models import Assignment, Judgment, PoolInstance, QrelSet
from assessment.qrels.selectors.versions import lab_fingerprint, qrels_frame
from collection.models import Collection, Import, Post, VisualMap
from desk.views.loads import FORMS
from submissions.models import Run
from tests.assessment.factories import judge, make_pool
from tests.assessment.qrels.services.test_loading import LAB, TOPICS
from tests.desk.views.test_home import text_of
from tests.evaluation.factories import GOOD, make_run
from tests.factories import UserFactory, make_lab
from tests.paths import PACKAGES, ROOT

TASK = "/labs/arqmath-x/tasks/task1/"
POSTS = (ROOT / "tests/dump" / "Posts.xml").read_text(encoding="utf-8").count("<row ")
OFFICIAL = "A.301\t0\t10\t3\r\nA.301\t0\t11\t0\r\nA.302\t0\t10\t2"
COMPLETE = "A.301\t0\t10\t3\nA.301\t0\t12\t5\n"
FILES = {"lab.toml": LAB, "topics.xml": TOPICS, "official.tsv": OFFICIAL, "complete.tsv": COMPLETE}


def file(name: str, text: str | bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, text if isinstance(text, bytes) else text.encode())


def zipped(files: dict[str, str], folder: str = "") -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in files.items():
            archive.writestr(f"{folder}{name}", text)
    return out.getvalue()


def tarred(files: dict[str, str]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(f"tiny/{name}")
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return out.getvalue()


@pytest.fixture(autouse=True)
def media(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "media"


@pytest.fixture
def post(client_of, django_capture_on_commit_callbacks):
    """Return a function that posts a form as a person and returns the finished load."""

    def send(person, path, **form):
        with django_capture_on_commit_callbacks(execute=True):
            response = client_of(person).post(path, form)
        assert response.status_code == 302, text_of(response)
        run_waiting_jobs()
        return Job.objects.get(pk=response.url.strip("/").rpartition("/")[2])

    return send


@pytest.fixture
def confirm(post):
    """Return a function that confirms the changes of a load as a person and returns the load."""

    def send(person, load, **form):
        assert load.state == Job.State.UNCONFIRMED, load.message
        digest = load.changes["digest"]
        return post(person, f"/loads/{load.pk}/repeat/", confirmed=digest, **form)

    return send


@pytest.fixture
def creator(db):
    person = UserFactory(username="creator")
    person.user_permissions.add(Permission.objects.get(codename="add_lab"))
    return person


@pytest.fixture
def by_command(tmp_path, db):
    """Return the contents of the lab that `load_lab` makes of the files; the lab is deleted."""
    folder = tmp_path / "command"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_bytes(text.encode())
    call_command("load_lab", str(folder), stdout=StringIO())
    found = contents(Lab.objects.get(slug="tiny"))
    Lab.objects.all().delete()
    return found


def contents(lab: Lab) -> object:
    """Return all that a folder sets of a lab."""
    return [
        (
            *(task.slug, task.name, task.kind, task.overrides, task.trec_items, task.deadline),
            [(topic.query_id, topic.title, topic.body_html) for topic in task.topics.all()],
            [(one.name, qrels_frame(one).rows()) for one in QrelSet.objects.filter(task=task)],
        )
        for task in lab.tasks.all()
    ]


@pytest.mark.parametrize(
    "sent",
    [
        [file(name, text) for name, text in FILES.items()],
        [file("tiny.zip", zipped(FILES))],
        [file("tiny.zip", zipped(FILES, "tiny-2027/"))],
        [file("tiny.tar.gz", tarred(FILES))],
        [file("lab.toml", LAB), file("data.zip", zipped({k: FILES[k] for k in list(FILES)[1:]}))],
    ],
    ids=["files", "zip", "zip of a folder", "tar", "toml and zip"],
)
def test_an_uploaded_lab_is_that_of_the_command(sent, by_command, creator, post):
    load = post(creator, "/load-lab/", file=sent)

    lab = Lab.objects.get(slug="tiny")
    assert (load.state, load.lab) == (Job.State.DONE, lab)
    assert contents(lab) == by_command
    assert lab.memberships.get(user=creator).role == Membership.Role.ORGANIZER
    assert load.summary[0] == "A tiny lab (tiny)."


def test_files_are_put_where_the_lab_names_them(creator, post):
    toml = LAB.replace('"topics.xml"', '"topics/2027/topics.xml"')

    load = post(
        creator,
        "/load-lab/",
        file=[file("lab.toml", toml), *(file(k, v) for k, v in FILES.items() if k != "lab.toml")],
    )

    assert load.state == Job.State.DONE
    assert Topic.objects.count() == 2


WITHOUT_TOPICS = LAB.replace('topics = "topics.xml"\n', "")


def test_topics_may_come_later(creator, post):
    no_qrels = WITHOUT_TOPICS.partition("qrels = ")[0]
    load = post(creator, "/load-lab/", file=[file("lab.toml", no_qrels)])
    assert load.state == Job.State.DONE
    assert not Topic.objects.exists()

    post(creator, "/labs/tiny/tasks/task1/load/topics/", topics=file("topics.xml", TOPICS))
    again = post(creator, "/load-lab/", file=[file("lab.toml", no_qrels)])

    assert (again.state, again.summary[0]) == (Job.State.DONE, "Nothing to change.")
    assert Topic.objects.count() == 2


def test_qrels_without_topics_in_the_folder_are_checked_against_those_of_the_task(creator, post):
    sent = [file("lab.toml", WITHOUT_TOPICS), file("official.tsv", OFFICIAL)]
    sent.append(file("complete.tsv", COMPLETE))
    load = post(creator, "/load-lab/", file=sent)

    problems = load.problems.filter(source="official.tsv").values_list("found", "expected")
    assert load.state == Job.State.REFUSED
    assert sorted(problems) == [
        ("the topic A.301 on 2 lines", "one of the task's 0 topics"),
        ("the topic A.302 on 1 line", "one of the task's 0 topics"),
    ]
    assert not Lab.objects.exists()

    toml = file("lab.toml", WITHOUT_TOPICS.partition("qrels = ")[0])
    post(creator, "/load-lab/", file=[toml])
    post(creator, "/labs/tiny/tasks/task1/load/topics/", topics=file("topics.xml", TOPICS))
    for one in sent:
        one.seek(0)
    assert post(creator, "/load-lab/", file=sent).state == Job.State.DONE
    assert QrelSet.objects.count() == 2


def test_every_problem_of_a_lab_is_listed_and_the_lacking_files_can_be_added(
    creator, post, client_of
):
    load = post(
        creator, "/load-lab/", file=[file("lab.toml", LAB), file("official.tsv", "A.301 0 10 9")]
    )

    problems = {(one.source, one.line) for one in load.problems.all()}
    page = text_of(client_of(creator).get(f"/loads/{load.pk}/"))
    assert load.state == Job.State.REFUSED
    assert problems == {("lab.toml", 11), ("lab.toml", 12), ("official.tsv", 1)}
    assert "Nothing was loaded: 3 problems." in page
    assert not Lab.objects.exists()

    again = post(
        creator,
        f"/loads/{load.pk}/repeat/",
        file=[file(name, FILES[name]) for name in ("topics.xml", "official.tsv", "complete.tsv")],
    )

    assert (again, again.state, again.problems.count()) == (load, Job.State.DONE, 0)
    assert [one["name"] for one in again.files].count("official.tsv") == 1


@pytest.mark.parametrize("path", ["/load-lab/", "/labs/arqmath-x/collection/load/"])
def test_a_failed_load_is_repeated_with_the_files_it_has(scene, post, path):
    sent = {"file": [file("tiny.zip", zipped(FILES))], "slug": "mse", "complete": "on"}
    sent["dump"] = file("Tags.xml", (ROOT / "tests/dump" / "Tags.xml").read_bytes())
    load = post(scene.superuser, path, **sent)
    Job.objects.filter(pk=load.pk).update(state=Job.State.FAILED)

    again = post(scene.superuser, f"/loads/{load.pk}/repeat/", slug="mse", complete="on")

    assert again.state == Job.State.DONE, again.message


def test_a_load_that_made_no_lab_is_linked(creator, post, client_of):
    load = post(creator, "/load-lab/", file=[file("lab.toml", LAB)])

    assert f'href="/loads/{load.pk}/"' in text_of(client_of(creator).get("/load-lab/"))


@pytest.mark.parametrize(
    ("edits", "name"), [("keep", "An edited lab"), ("overwrite", "A tiny lab")]
)
def test_edited_values_are_listed_and_then_kept_or_overwritten(
    creator, post, client_of, edits, name
):
    post(creator, "/load-lab/", file=[file("tiny.zip", zipped(FILES))])
    client_of(creator).post("/labs/tiny/edit/", {"name": "An edited lab", "is_public": "on"})

    load = post(creator, "/load-lab/", file=[file("tiny.zip", zipped(FILES))])

    assert load.state == Job.State.REFUSED
    assert "tiny name: An edited lab -> A tiny lab" in load.message
    post(creator, f"/loads/{load.pk}/repeat/", edits=edits)
    assert Lab.objects.get().name == name


@pytest.mark.parametrize(
    ("sent", "found"),
    [
        (file("tiny.zip", b"PK\x03\x04 and nothing"), "a damaged archive"),
        (file("tiny.tar.gz", b"no tar"), "a damaged archive"),
        (file("notes.txt", "No lab."), "no lab.toml"),
        (file("two.zip", zipped({"a/lab.toml": LAB, "b/lab.toml": LAB})), "2 files named lab.toml"),
    ],
)
def test_what_is_no_lab_is_refused(sent, found, creator, post):
    load = post(creator, "/load-lab/", file=[sent])

    assert load.state == Job.State.REFUSED
    assert load.problems.get().found.startswith(found)


def test_nothing_is_unpacked_outside_the_folder(creator, post, settings):
    post(creator, "/load-lab/", file=[file("x.zip", zipped({"../../../escaped.txt": "out"}))])

    assert not list(settings.MEDIA_ROOT.parent.glob("*.txt"))
    assert not list(settings.MEDIA_ROOT.glob("*.txt"))


def test_the_lab_of_others_is_not_changed(scene, creator, post):
    load = post(
        creator,
        "/load-lab/",
        file=[file(name, text.replace('"tiny"', '"arqmath-x"')) for name, text in FILES.items()],
    )

    assert load.state == Job.State.REFUSED
    assert "you do not organize it" in load.message
    assert scene.lab.tasks.get().topics.count() == 2


def test_topics_are_added_and_changed(scene, post, confirm):
    Topic.objects.update(info={"category": "proof"}, engine=ENGINE)
    text = TOPICS.replace("A.301", "A.2").replace("A.302", "A.3")

    asked = post(scene.organizer, TASK + "load/topics/", topics=file("topics.xml", text))
    assert scene.task.topics.get(query_id="A.2").title == "The title of A.2"
    load = confirm(scene.organizer, asked)

    titles = list(scene.task.topics.order_by("position").values_list("query_id", "title", "info"))
    assert titles == [
        ("A.1", "The title of A.1", {"category": "proof"}),
        ("A.2", "One", {"category": "proof"}),
        ("A.3", "Two", {}),
    ]
    assert load.summary == ["3 topics: 1 new, 1 changed, 1 unchanged."]
    assert AuditEvent.objects.get(verb="topics.load").actor == scene.organizer


def test_topics_that_are_not_in_the_file_are_deleted_if_chosen(scene, post, confirm):
    asked = post(
        scene.organizer,
        TASK + "load/topics/",
        topics=file("topics.xml", TOPICS),
        topic_info=file("info.csv", "Topic,Category\nA.301,proof\n"),
        delete_others="on",
    )
    confirm(scene.organizer, asked, delete_others="on")

    found = scene.task.topics.order_by("position").values_list("query_id", "info")
    assert list(found) == [("A.301", {"category": "proof"}), ("A.302", {})]


def test_topics_with_a_pool_are_not_deleted(scene, post):
    make_pool(scene.task)

    load = post(
        scene.organizer,
        TASK + "load/topics/",
        topics=file("topics.xml", TOPICS),
        delete_others="on",
    )

    assert load.state == Job.State.REFUSED
    assert "in use: A.1" in load.message
    assert scene.task.topics.count() == 2


def test_the_problems_of_all_topic_files_are_listed(scene, post):
    load = post(
        scene.organizer,
        TASK + "load/topics/",
        topics=file("topics.xml", "<Topics><Topic/></Topics>"),
        topic_info=file("info.csv", "Category\nproof\n"),
    )

    assert {one.source for one in load.problems.all()} == {"topics.xml", "info.csv"}
    assert scene.task.topics.count() == 2


def test_qrels_become_a_version(scene, post):
    load = post(
        scene.organizer,
        TASK + "load/qrels/",
        file=file("qrels.tsv", "A.1 0 10 1\nA.2 0 11 0\n"),
        name="official",
        items="posts",
        labels="trec-binary",
        relevant_from="1",
    )

    made = QrelSet.objects.get()
    assert load.summary == [
        "Version 1 (official): 2 lines, 2 judged topics.",
        "Compared with the current version: 2 new, 0 changed, 0 unchanged.",
    ]
    assert qrels_frame(made).rows() == [("A.1", "10", 1), ("A.2", "11", 0)]
    assert (made.relevant_from, len(made.scale)) == (1, 4)


def test_qrels_are_compared_and_loaded_without_the_lines_of_other_topics(scene, post):
    sent = {"name": "official", "items": "posts"}
    post(scene.organizer, TASK + "load/qrels/", file=file("q.tsv", "A.1 0 10 1\n"), **sent)
    QrelSet.objects.update(is_current=True)
    text = "A.1 0 10 2\nA.1 0 11 2\nZ.9 0 10 2\n"

    load = post(
        scene.organizer, TASK + "load/qrels/", file=file("q.tsv", text), name="v2", items="posts"
    )
    assert load.state == Job.State.REFUSED
    load = post(
        scene.organizer, f"/loads/{load.pk}/repeat/", name="v2", items="posts", leaves_out="on"
    )

    assert load.summary[1].endswith("1 new, 1 changed, 1 outside (left out), 0 unchanged.")
    assert QrelSet.objects.get(name="v2").lines == 2


def test_qrels_that_join_nothing_are_loaded_with_a_warning(scene, post, client_of):
    make_run(scene.team, scene.task, GOOD)

    load = post(
        scene.organizer,
        TASK + "load/qrels/",
        file=file("qrels.tsv", "A.1 0 x1 1\n"),
        name="official",
        items="posts",
    )

    told = "Qrels official of arqmath-x/task1: none of the posts on its 1 line is in the"
    assert load.state == Job.State.DONE
    assert QrelSet.objects.get().lines == 1
    for page in (f"/loads/{load.pk}/", TASK + "qrels/1/"):
        assert told in text_of(client_of(scene.organizer).get(page))


def test_a_lab_a_collection_and_topics_are_loaded_with_warnings_of_qrels(creator, post, confirm):
    post(creator, "/load-lab/", file=file("tiny.zip", zipped(FILES)))
    topics = file("topics.xml", TOPICS.replace("A.302", "A.303"))
    sent = {"topics": topics, "delete_others": "on"}

    asked = post(creator, "/labs/tiny/tasks/task1/load/topics/", **sent)
    changed = confirm(creator, asked, delete_others="on")
    dump = file("Posts.xml", "<posts><row Id='1' PostTypeId='1' Title='T' Body='B'/></posts>")
    collection = {"slug": "small", "complete": "on", "dump": dump}
    imported = post(creator, "/labs/tiny/collection/load/", **collection)
    again = post(creator, "/load-lab/", file=file("tiny.zip", zipped(FILES)))
    again = confirm(creator, again)

    assert ["1 of 2 topics (1 line)" in one for one in changed.warnings] == [True]
    assert ["none of the posts" in one for one in imported.warnings] == [False, True, True]
    assert ["none of the posts" in one for one in again.warnings] == [True, True]


def test_documents_are_loaded_into_a_collection(scene, post):
    line = '{"id": "a_1", "title": "Traces", "text": "Of $x$"}\n'

    load = post(
        scene.organizer,
        "/labs/arqmath-x/collection/load/",
        slug="arxiv",
        documents=file("docs.jsonl", line + "{\n"),
    )

    assert load.state == Job.State.DONE, load.message
    assert load.summary == [
        "Documents (docs.jsonl): 1 of 2 rows kept, 1 problem.",
        "Visual ids, version 1: 1 formulas in 1 instances.",
    ]
    assert Post.objects.get().safe_title == "Traces"


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"name": ""}, "Enter a name for this version."),
        ({"labels": "0-x"}, "Unknown labels."),
        ({"items": "books"}, "books is not one of the available choices"),
    ],
)
def test_a_wrong_option_of_qrels_is_sent_back(scene, client_of, form, said):
    sent = {"file": file("q.tsv", "A.1 0 10 1"), "name": "v1", "items": "posts"} | form

    response = client_of(scene.organizer).post(TASK + "load/qrels/", sent)

    assert response.status_code == 422
    assert said in text_of(response)
    assert not Job.objects.exists()


def test_qrels_whose_labels_are_never_relevant_are_refused(scene, post):
    load = post(
        scene.organizer,
        TASK + "load/qrels/",
        file=file("q.tsv", "A.1 0 10 1"),
        name="v1",
        items="posts",
        labels="0-1",
        relevant_from="3",
    )

    [problem] = load.problems.all()
    assert problem.found == "no relevant label: the highest is 1, and labels are relevant from 3"


def test_changed_labels_are_shown_and_loaded_when_they_are_confirmed(
    scene, post, confirm, client_of
):
    make_pool(scene.task)
    first, second = PoolInstance.objects.order_by("doc_id")[:2]
    judge(scene.assessor, first, 1)
    sent = {"file": file("j.tsv", f"A.1 0 {first.doc_id} 3\nA.1 0 {second.doc_id} 2\n")}

    asked = post(scene.organizer, TASK + "load/judgments/", **sent)
    page = text_of(client_of(scene.organizer).get(f"/loads/{asked.pk}/"))
    assert f"A.1 {first.doc_id}</span>: 1 → 3" in page
    assert [one.label for one in Judgment.objects.all()] == [1]

    judge(scene.assessor, second, 0)  # what was shown is out of date
    again = confirm(scene.organizer, asked)
    assert [group["count"] for group in again.changes["groups"]] == [2]
    assert confirm(scene.organizer, again).state == Job.State.DONE
    assert {one.label for one in Judgment.objects.filter(is_current=True)} == {3, 2}


def test_causes_of_problems_stand_below_the_form_that_loads_the_rest(scene, post, client_of):
    make_pool(scene.task)
    lines = "".join(f"A.1 0 {item} 3\n" for item in (10, *range(900, 1000)))
    load = post(scene.organizer, TASK + "load/judgments/", file=file("j.tsv", lines))

    page = text_of(client_of(scene.organizer).get(f"/loads/{load.pk}/"))
    [cause] = load.problem_groups
    assert (cause["count"], len(cause["examples"])) == (100, 3)
    assert page.index("Load only those that are in the pool") < page.index("100 problems</strong>")

    done = post(scene.organizer, f"/loads/{load.pk}/repeat/", leaves_out="on")
    assert done.summary == ["1 new, 0 changed, 100 outside (left out), 0 unchanged."]


def test_judgments_are_imported_or_refused(scene, post):
    load = post(scene.organizer, TASK + "load/judgments/", file=file("j.tsv", "A.1 0 10 3"))

    assert load.state == Job.State.REFUSED
    assert "has no pool" in load.message

    make_pool(scene.task, {"A.1": ["10", "11"]})
    again = post(scene.organizer, f"/loads/{load.pk}/repeat/")

    assert again.summary == ["1 new, 0 changed, 0 unchanged."]
    assert Judgment.objects.get().label == 3


def test_runs_of_teams_are_loaded_after_the_deadline_by_organizers_alone(scene, post, client_of):
    Task.objects.update(overrides={"quota": 1}, deadline=timezone.now() - timedelta(days=1))
    lines = "A.1\t10\t1\t9.5\tr\n"
    names = ["New-task1-r1-auto-both-P.tsv", "New-task1-r2-auto-both-A.tsv"]
    packed = file("runs.zip", zipped(dict.fromkeys(names, lines)))

    load = post(scene.organizer, TASK + "load/runs/", file=[packed])

    assert load.summary == ["2 runs loaded, 0 unchanged.", "Created the teams New."], load.message
    assert set(Run.objects.values_list("tag", "status")) == {("r1", "valid"), ("r2", "valid")}
    assert "load/runs/" in client_of(scene.organizer).get(TASK + "runs/").content.decode()
    assert client_of(scene.member).get(TASK + "load/runs/").status_code == 404


@pytest.fixture
def loaded(scene, post):
    return post(
        scene.organizer,
        "/labs/arqmath-x/collection/load/",
        slug="mse",
        complete="on",
        dump=[
            file(name, (ROOT / "tests/dump" / name).read_bytes())
            for name in ("Posts.xml", "Comments.xml")
        ],
        latex=file("formulas.latex.tsv", (ROOT / "tests/dump" / "formulas.latex.tsv").read_bytes()),
    )


def test_collection_files_are_imported(scene, loaded):
    collection = Collection.objects.get(slug="mse")

    assert loaded.state == Job.State.DONE, loaded.message
    assert list(collection.labs.all()) == [scene.lab]
    assert {one.kind for one in Import.objects.all()} == {"posts", "comments", "latex"}
    assert Post.objects.filter(collection=collection).count() == POSTS
    assert VisualMap.objects.get().version == 1


def test_a_further_file_leaves_the_others(scene, loaded, post):
    post(
        scene.organizer,
        "/labs/arqmath-x/collection/load/",
        complete="on",
        dump=[file("Users.xml", (ROOT / "tests/dump" / "Users.xml").read_bytes())],
    )

    assert Import.objects.filter(state="done").count() == 4
    assert Post.objects.count() == POSTS


def test_visual_ids_are_made_on_the_page_of_the_collection(scene, loaded, post):
    load = post(scene.organizer, "/labs/arqmath-x/collection/visual-ids/")

    assert load.summary == ["Nothing to change: the ids are those of the newest version."]


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({}, "Choose at least one file of the collection."),
        ({"slug": "Not a slug"}, "Enter a name: at most 50 lower-case letters"),
        ({"since": "2018-01-01", "until": "2017-01-01"}, "The last day is before the first day."),
        ({"keep_later": "on"}, "Enter the last day to search"),
    ],
)
def test_wrong_options_of_a_collection_are_sent_back(scene, client_of, form, said):
    response = client_of(scene.organizer).post(
        "/labs/arqmath-x/collection/load/", {"slug": "mse"} | form
    )

    assert said in text_of(response)
    assert not Collection.objects.exists()


def test_the_collection_of_another_lab_is_not_changed(scene, loaded, client_of):
    other = Lab.objects.create(slug="other", name="Other", protocol="arqmath-3")
    Membership.objects.create(lab=other, user=scene.organizer, role="organizer")

    response = client_of(scene.organizer).post(
        "/labs/other/collection/load/", {"slug": "mse", "dump": file("Tags.xml", "<tags/>")}
    )

    assert "Another lab has a collection with this name." in text_of(response)


def test_a_dump_file_of_another_name_is_refused(scene, post):
    load = post(
        scene.organizer,
        "/labs/arqmath-x/collection/load/",
        slug="mse",
        dump=[file("posts-of-2027.txt", "x"), file("Posts.xml", "<posts/>")],
    )

    assert load.problems.get().source == "posts-of-2027.txt"
    assert not Collection.objects.exists()


def test_a_small_file_has_the_limit_of_runs(scene, client_of, settings):
    settings.RUN_MAX_BYTES = 5

    response = client_of(scene.organizer).post(
        TASK + "load/judgments/", {"file": file("j.tsv", "A.1 0 10 3")}
    )

    assert "j.tsv is too large: the limit is 5" in text_of(response)


def test_with_javascript_the_answer_is_json(scene, client_of):
    json = {"headers": {"Accept": "application/json"}}
    client = client_of(scene.organizer)

    refused = client.post(TASK + "load/topics/", {}, **json)
    sent = client.post(TASK + "load/topics/", {"topics": file("t.xml", TOPICS)}, **json)

    assert refused.json() == {"errors": ["Choose a topic file."]}
    assert sent.json() == {"location": f"/loads/{Job.objects.get().pk}/"}


def test_a_load_is_run_once(scene, client_of):
    client_of(scene.organizer).post(TASK + "load/topics/", {"topics": file("t.xml", TOPICS)})
    load = Job.objects.get()

    assert run_waiting_job(job_id=load.pk, at=timezone.now())
    assert not run_waiting_job(job_id=load.pk, at=timezone.now())


def test_a_load_of_a_dead_worker_waits_again_and_fails_at_last(scene, client_of):
    client_of(scene.organizer).post(TASK + "load/topics/", {"topics": file("t.xml", TOPICS)})
    dead = timezone.now() - 2 * STALE_JOB
    Job.objects.update(state=Job.State.RUNNING, updated_at=dead, attempts=1)

    release_dead_jobs(at=timezone.now())
    first = Job.objects.get().state
    Job.objects.update(state=Job.State.RUNNING, updated_at=dead, attempts=MOST_ATTEMPTS)
    release_dead_jobs(at=timezone.now())

    assert (first, Job.objects.get().state) == (Job.State.WAITING, Job.State.FAILED)


def test_a_load_with_progress_is_not_dead(scene, client_of):
    client_of(scene.organizer).post(TASK + "load/topics/", {"topics": file("t.xml", TOPICS)})
    lately = timezone.now() - STALE_JOB + timedelta(seconds=5)
    Job.objects.update(state=Job.State.RUNNING, updated_at=lately)

    assert release_dead_jobs(at=timezone.now()) == 0


@pytest.mark.django_db(transaction=True)
def test_a_step_without_progress_is_not_dead(client_of, monkeypatch):
    scene = make_lab()
    client_of(scene.organizer).post(TASK + "load/judgments/", {"file": file("j.tsv", "A.1 0 1 3")})
    Job.objects.update(state=Job.State.WAITING)
    beats: list[object] = []

    def step(one):
        began = Job.objects.get().updated_at
        while Job.objects.get().updated_at == began:
            pass
        beats.append(Job.objects.get().updated_at)
        return []

    monkeypatch.setattr(jobs, "BETWEEN_BEATS", 0.01)
    monkeypatch.setitem(JOB_KINDS, "judgments", JobKind("A load", step))
    run_waiting_job(job_id=Job.objects.get().pk, at=timezone.now())

    assert len(beats) == 1
    assert Job.objects.get().state == Job.State.DONE


def test_a_waiting_load_is_stopped_at_once(scene, client_of, post):
    client = client_of(scene.organizer)
    client.post(TASK + "load/topics/", {"topics": file("t.xml", TOPICS)})
    load = Job.objects.get()

    page = text_of(client.post(f"/loads/{load.pk}/stop/", follow=True))

    assert "Stopped by" in page
    assert not run_waiting_job(job_id=load.pk, at=timezone.now())
    assert post(scene.organizer, f"/loads/{load.pk}/repeat/").state == Job.State.DONE


def test_a_running_load_stops_at_its_next_progress(scene, client_of, monkeypatch):
    client = client_of(scene.organizer)
    client.post(TASK + "load/topics/", {"topics": file("t.xml", TOPICS)})
    load = Job.objects.get()

    def step(work):
        client.post(f"/loads/{load.pk}/stop/")
        assert "Stopping." in text_of(client.get(f"/loads/{load.pk}/"))
        work.progress(1, None)
        raise AssertionError("it went on")

    monkeypatch.setitem(JOB_KINDS, "topics", JobKind("A load", step))
    run_waiting_job(job_id=load.pk, at=timezone.now())

    load.refresh_from_db()
    assert (load.state, load.log.count("\n")) == (Job.State.STOPPED, 3)


def test_a_load_that_was_asked_to_stop_is_not_given_to_another_worker(scene, client_of):
    client_of(scene.organizer).post(TASK + "load/topics/", {"topics": file("t.xml", TOPICS)})
    dead = timezone.now() - 2 * STALE_JOB
    Job.objects.update(state=Job.State.RUNNING, updated_at=dead, attempts=1, is_stopping=True)

    release_dead_jobs(at=timezone.now())

    assert Job.objects.get().state == Job.State.STOPPED


def test_an_error_of_ours_keeps_the_files_and_is_reported(scene, post, monkeypatch, client_of):
    def broken(one):
        raise ZeroDivisionError

    monkeypatch.setitem(JOB_KINDS, "topics", JobKind("A load", broken))
    load = post(scene.organizer, TASK + "load/topics/", topics=file("t.xml", TOPICS))

    page = text_of(client_of(scene.organizer).get(f"/loads/{load.pk}/"))
    assert load.state == Job.State.FAILED
    assert "The files are kept." in page
    assert "t.xml" in page


def test_the_page_of_a_load_is_asked_for_news(scene, client_of):
    client = client_of(scene.organizer)
    client.post(TASK + "load/topics/", {"topics": file("t.xml", TOPICS)})
    load = Job.objects.get()
    address = f"/loads/{load.pk}/?seen=waiting-0-0-False"

    waiting = client.get(address)
    Job.objects.update(state=Job.State.RUNNING, done=1200, total=5000)
    running = text_of(client.get(address))

    assert waiting.status_code == 204
    assert "1,200 of about 5,000 rows" in running


def test_the_loads_of_a_lab_are_listed(scene, post, client_of):
    post(scene.organizer, TASK + "load/topics/", topics=file("t.xml", TOPICS))

    page = text_of(client_of(scene.organizer).get("/labs/arqmath-x/loads/"))

    assert "Topics" in page
    assert "chip-done" in page


@pytest.mark.parametrize("role", ["outsider", "member", "assessor"])
def test_a_load_is_shown_to_organizers(scene, post, client_of, role):
    load = post(scene.organizer, TASK + "load/topics/", topics=file("t.xml", TOPICS))
    client = client_of(scene.people[role])

    assert client.get(f"/loads/{load.pk}/").status_code == 404
    assert client.post(f"/loads/{load.pk}/stop/").status_code == 404
    assert client.post(f"/loads/{load.pk}/repeat/").status_code == 404


def test_a_load_that_is_done_is_not_repeated(scene, post, client_of):
    load = post(scene.organizer, TASK + "load/topics/", topics=file("t.xml", TOPICS))

    page = text_of(
        client_of(scene.organizer).post(
            f"/loads/{load.pk}/repeat/", {"topics": file("t.xml", "<x/>")}, follow=True
        )
    )

    assert "This job is not over, or it is done." in page
    assert Job.objects.get().state == Job.State.DONE


def test_the_lab_of_a_fingerprint_is_unchanged_by_a_second_load(creator, post):
    sent = lambda: [file("tiny.zip", zipped(FILES))]  # noqa: E731
    post(creator, "/load-lab/", file=sent())
    before = lab_fingerprint(Lab.objects.get())

    load = post(creator, "/load-lab/", file=sent())

    assert load.summary[0] == "Nothing to change."
    assert lab_fingerprint(Lab.objects.get()) == before


OTHER_TOPICS = TOPICS.replace("<Title>One", "<Title>Uno")
TAGS = '<tags><row Id="1" TagName="{}" Count="1" /></tags>'
COMPUTED = {"visual-ids", "candidates", "archive", "runs", "restore"}
PAGES = {
    "lab": ("/load-lab/", "file", "tiny.zip", [zipped(FILES), None]),
    "topics": (TASK + "load/topics/", "topics", "t.xml", [TOPICS, OTHER_TOPICS]),
    "qrels": (TASK + "load/qrels/", "file", "q.tsv", ["A.1 0 10 1", "A.1 0 10 2"]),
    "judgments": (TASK + "load/judgments/", "file", "j", ["A.1 0 10 1", "A.1 0 10 2"]),
    "collection": (
        "/labs/arqmath-x/collection/load/",
        "dump",
        "Tags.xml",
        [TAGS.format("old"), TAGS.format("new")],
    ),
}
"""The page of each kind of load, its field, its file, and two contents: the second changes the
first."""
OPTIONS = {"name": "official", "items": "posts", "slug": "mse", "complete": "on"}
COMMANDS = {
    "load_lab": lambda path: [str(path.parent)],
    "import_judgments": lambda path: ["arqmath-x/task1", str(path)],
    "assign_topics": lambda path: ["arqmath-x/task1", str(path), "--replace"],
    "import_posts": lambda path: [str(path), "--collection", "mse"],
    "import_formulas": lambda path: ["--latex", str(path), "--collection", "mse"],
}
INDEX = "id\tpost_id\tthread_id\ttype\tformula\n1\t1\t1\ttitle\t{}\n"
SENT_BY_COMMAND = {
    "load_lab": ("topics.xml", [TOPICS, OTHER_TOPICS]),
    "import_judgments": ("j.tsv", ["A.1 0 10 1", "A.1 0 10 2"]),
    "assign_topics": ("a.csv", ["A.1,assessor-arqmath-x", "A.1,organizer-arqmath-x"]),
    "import_posts": ("Tags.xml", [TAGS.format("old"), TAGS.format("new")]),
    "import_formulas": ("f.tsv", [INDEX.format("x"), INDEX.format("y")]),
}
LOAD_NOTHING = {
    "restore_archive",
    "build_pool",
    "check_run",
    "submit_run",
    "load_runs",
    "make_baseline",
    "make_topics",
}
LOAD_NOTHING |= {"backup", "restore"}
"""Commands that read files and store no data of organizers in place of other data; `restore` needs
an empty server, or `--replace`.
"""


def stored() -> list[object]:
    return [
        list(model.objects.order_by("pk").values_list(*fields))
        for model, fields in (
            (Topic, ("query_id", "title", "body")),
            (QrelSet, ("name", "sha256")),
            (Judgment, ("label", "is_current")),
            (Import, ("source", "sha256")),
            (Assignment, ("assessor", "ended_at")),
        )
    ]


def test_every_load_and_every_command_that_loads_is_in_the_tables():
    names = {path.stem for path in ROOT.glob("*/management/commands/[a-z]*.py")}
    names |= {path.stem for path in ROOT.glob("arqlab/*/management/commands/[a-z]*.py")}
    found = {name: load_command_class(get_commands()[name], name) for name in names}
    reading = {
        name
        for name, one in found.items()
        for action in one.create_parser("manage.py", name)._actions
        if action.type is Path and "--out" not in action.option_strings
    }

    assert PAGES.keys() == FORMS.keys() - COMPUTED
    assert {name for name, one in found.items() if isinstance(one, LoadCommand)} == {*COMMANDS}
    assert {name for name in reading if not name.startswith("export")} - LOAD_NOTHING == {*COMMANDS}
    assert COMMANDS.keys() == SENT_BY_COMMAND.keys()


@pytest.mark.parametrize("kind", PAGES)
def test_no_page_changes_what_is_stored_without_a_confirmation(scene, post, kind):
    path, field, name, contents = PAGES[kind]
    make_pool(scene.task)
    contents[1] = contents[1] or zipped(FILES | {"topics.xml": OTHER_TOPICS})
    load = post(scene.superuser, path, **OPTIONS, **{field: file(name, contents[0])})
    assert load.state == Job.State.DONE, load.message
    before = stored()

    asked = post(scene.superuser, path, **OPTIONS, **{field: file(name, contents[1])})

    refused = Job.State.REFUSED if kind == "qrels" else Job.State.UNCONFIRMED
    assert (asked.state, stored()) == (refused, before)


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_changes_what_is_stored_without_a_confirmation(scene, tmp_path, name):
    make_pool(scene.task)
    for each, text in FILES.items():
        (tmp_path / each).write_text(text)
    path, contents = tmp_path / SENT_BY_COMMAND[name][0], SENT_BY_COMMAND[name][1]
    path.write_text(contents[0])
    call_command(name, *COMMANDS[name](path), stdout=StringIO(), stderr=StringIO())
    before = stored()
    path.write_text(contents[1])

    with pytest.raises(CommandError, match="add --yes"):
        call_command(name, *COMMANDS[name](path), stdout=StringIO(), stderr=StringIO())
    assert stored() == before

    call_command(name, *COMMANDS[name](path), "--yes", stdout=StringIO(), stderr=StringIO())
    assert stored() != before


def test_only_one_module_writes_the_text_of_topics():
    writes = re.compile(
        r"\bTopic\.objects\.(?:bulk_create|bulk_update|create|update)|topics\.(?:create|update)\(|"
        r"topic\.save\("
    )
    writing = {
        str(path.relative_to(ROOT))
        for folder in PACKAGES[1:]
        for path in (ROOT / folder).rglob("*.py")
        if writes.search(path.read_text()) and "migrations" not in path.parts
    }

    assert writing == {
        "arqlab/labs/services/topic_loading.py",
        "arqlab/labs/services/topic_pages.py",  # typesets them again
    }
