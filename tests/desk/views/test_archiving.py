"""Labs and tasks are archived, restored and deleted on pages."""

import pytest
from django.core.files.base import ContentFile
from django.utils import timezone

from arqlab.core.files import kept
from arqlab.core.models import AuditEvent, Job, Lab, Task
from arqlab.jobs.tasks import run_waiting_jobs
from assessment.models import Judgment
from desk.services.load_files import load_folder
from submissions.models import Run
from submissions.services.uploads import check_upload, submit_upload
from tests.assessment.factories import assign, make_pool
from tests.assessment.judging.desk import Desk
from tests.desk.views.test_home import text_of
from tests.desk.views.test_loads import TOPICS, file

LAB, TASK = "/labs/arqmath-x/", "/labs/arqmath-x/tasks/task1/"
REFUSED = "It is archived, so it cannot be changed."


def send_run(scene, send=submit_upload):
    sent = ContentFile(b"A.1\t10\t1\t2.5\tours\n", name="Alpha-task1-ours-auto-both-A.tsv")
    return send(file=sent, task=scene.task, team=scene.team, by=scene.member, at=timezone.now())


def test_an_archived_lab_is_not_on_the_home_page(scene, client_of):
    organizer = client_of(scene.organizer)

    organizer.post(f"{LAB}archive/", follow=True)

    assert scene.lab.name not in text_of(organizer.get("/"))
    assert scene.lab.name not in text_of(client_of(scene.outsider).get("/"))
    assert "chip-archived" in text_of(organizer.get("/labs/"))
    assert AuditEvent.objects.get().verb == "lab.archive"


@pytest.mark.parametrize("address", [LAB, TASK])
def test_an_archived_lab_or_task_is_restored(scene, client_of, address):
    organizer = client_of(scene.organizer)
    organizer.post(f"{address}archive/")
    organizer.post(f"{address}restore/")

    assert Lab.objects.get().archived_at is None
    assert Task.objects.get().archived_at is None
    assert [event.verb.partition(".")[2] for event in AuditEvent.objects.all()] == [
        "restore",
        "archive",
    ]


@pytest.mark.parametrize("archived", [LAB, TASK])
@pytest.mark.parametrize(
    "address", ["edit/", "load/qrels/", "pools/1/close/", "leaderboard/release/", "qrels/"]
)
def test_an_archived_task_is_not_changed(scene, client_of, archived, address):
    organizer = client_of(scene.organizer)
    organizer.post(f"{archived}archive/")

    response = organizer.post(f"{TASK}{address}", {"name": "Another"}, follow=True)

    assert REFUSED in text_of(response)
    assert Task.objects.get().name == "Answer retrieval"


def test_another_task_of_the_lab_can_be_changed(scene, client_of):
    organizer = client_of(scene.organizer)
    Task.objects.create(lab=scene.lab, slug="task2", name="Other", kind="answers")
    organizer.post("/labs/arqmath-x/tasks/task2/archive/")

    organizer.post(f"{TASK}load/topics/", {"topics": file("t.xml", TOPICS)})

    assert Job.objects.count() == 1


def test_an_archived_lab_takes_no_run_from_the_api(scene, client_of):
    client_of(scene.organizer).post(f"{LAB}archive/")

    response = client_of(scene.member).post("/api/v1/labs/arqmath-x/tasks/task1/runs/", {})

    assert (response.status_code, response.json()["code"]) == (409, "archived")


@pytest.mark.parametrize("archived", [LAB, TASK])
def test_a_judgment_in_an_archive_is_refused(scene, client_of, archived):
    make_pool(scene.task)
    assign(scene.assessor, scene.task.topics.first())
    desk = Desk(scene.assessor)
    item = desk.next()
    client_of(scene.organizer).post(f"{archived}archive/")

    desk.submit(item, 3)

    assert desk.last.json()["code"] == "pool-closed"
    assert not Judgment.objects.exists()
    client_of(scene.organizer).post(f"{archived}restore/")
    assert "next" in desk.submit(item, 3)
    assert Judgment.objects.count() == 1


def test_nobody_joins_a_team_of_an_archived_lab(scene, client_of):
    client_of(scene.organizer).post(f"{LAB}archive/")

    response = client_of(scene.outsider).post(f"/join/{scene.team.invitation_token}/", follow=True)

    assert REFUSED in text_of(response)
    assert scene.team.memberships.count() == 1


def test_an_archived_draft_stays_unknown_to_others(scene, client_of):
    client_of(scene.organizer).post(f"{LAB}archive/")
    Lab.objects.update(is_public=False)

    assert client_of(scene.outsider).post(f"{LAB}edit/").status_code == 404


@pytest.mark.parametrize("archived", [LAB, TASK])
def test_a_waiting_load_changes_no_archive(scene, media, client_of, archived):
    organizer = client_of(scene.organizer)
    organizer.post(f"{TASK}load/topics/", {"topics": file("t.xml", TOPICS)})
    organizer.post(f"{archived}archive/")

    run_waiting_jobs()

    assert "is archived, so it cannot be changed" in Job.objects.get().message
    assert scene.task.topics.count() == 2


def test_an_archived_task_is_closed(scene, client_of):
    client_of(scene.organizer).post(f"{TASK}archive/")

    assert Task.objects.get().state(timezone.now()) == "closed"


def test_an_archived_lab_can_be_read_and_copied(scene, client_of):
    client = client_of(scene.superuser)
    client.post(f"{LAB}archive/")

    assert "This lab is archived" in text_of(client.get(LAB))
    assert client.post(f"{LAB}copy/", {"name": "Next", "slug": "next"}).url == "/labs/next/"


@pytest.fixture
def media(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path


def test_a_lab_is_deleted_after_its_name_was_typed(
    scene, media, client_of, django_capture_on_commit_callbacks
):
    organizer = client_of(scene.organizer)
    organizer.post(f"{TASK}load/topics/", {"topics": file("t.xml", TOPICS)})
    [run] = send_run(scene, check_upload)
    folder, stored = load_folder(Job.objects.get()), run.upload.file.name

    with django_capture_on_commit_callbacks(execute=True):
        response = organizer.post(f"{LAB}delete/", {"typed": "The lab  arqmath-x "})

    assert response.url == "/labs/"
    assert not Lab.objects.exists()
    assert not list(kept.names(folder))
    assert not kept.exists(stored)
    assert AuditEvent.objects.get().target == "arqmath-x: The lab arqmath-x"


def test_a_task_is_deleted_after_its_name_was_typed(scene, client_of):
    response = client_of(scene.organizer).post(f"{TASK}delete/", {"typed": "Answer retrieval"})

    assert response.url == LAB
    assert not Task.objects.exists()
    assert AuditEvent.objects.get(verb="task.delete").lab == scene.lab


@pytest.mark.parametrize("address", [LAB, TASK])
@pytest.mark.parametrize(
    ("typed", "said"),
    [("", "Type the name to confirm."), ("arqmath", "Type the name to confirm: ")],
)
def test_without_the_name_nothing_is_deleted(scene, client_of, address, typed, said):
    page = text_of(client_of(scene.organizer).post(f"{address}delete/", {"typed": typed}))

    assert said in page
    assert Task.objects.exists()


@pytest.mark.parametrize("address", [LAB, TASK])
def test_what_teams_submitted_is_not_deleted(scene, media, client_of, address):
    send_run(scene)
    send_run(scene, check_upload)
    name = scene.lab.name if address == LAB else scene.task.name
    refusal = "cannot be deleted, because it has 1 run. Archive it instead."
    organizer = client_of(scene.organizer)

    assert refusal in text_of(organizer.post(f"{address}delete/", {"typed": name}))
    page = organizer.get(f"{address}delete/")
    assert refusal in text_of(page)
    assert 'name="typed"' not in page.text
    assert Run.objects.count() == 2


@pytest.mark.parametrize("address", [LAB, TASK])
def test_a_pool_and_assignments_are_not_deleted(scene, client_of, address):
    make_pool(scene.task)
    assign(scene.assessor, scene.task.topics.first())
    name = scene.lab.name if address == LAB else scene.task.name

    page = text_of(client_of(scene.organizer).post(f"{address}delete/", {"typed": name}))

    assert "1 pool" in page
    assert scene.task.pools.count() == 1
