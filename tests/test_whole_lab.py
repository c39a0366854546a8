"""A whole lab through the pages: loaded, joined, run, judged, scored, released and read."""

from io import StringIO
from math import log2
from pathlib import Path

import pytest
from django.core import mail
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from arqlab.core.models import Team, User
from assessment.models import PoolItem
from evaluation.services.scoring import score_waiting
from submissions.models import Run
from tests.assessment.judging.desk import Desk, name_of
from tests.ceremonies import confirmed

OFFICIAL = 'qrels = [{ name = "official", file = "qrels.tsv" }]'
LAB = f"""
[lab]
slug = "small"
name = "A small lab"
protocol = "arqmath-1"

[[tasks]]
slug = "task1"
name = "Answers"
kind = "answers"
topics = "topics.xml"
{OFFICIAL}
"""
TOPIC = (
    '<Topic number="A.{0}"><Title>Sum {0}</Title><Question>Add them.</Question>'
    "<Tags>sums</Tags></Topic>"
)
RUN = b"A.1\t11\t1\t2.5\tours\nA.1\t12\t2\t1.5\tours\nA.2\t21\t1\t0.5\tours\n"

LONGER = (
    b"A.1\t11\t1\t3\tours\nA.1\t12\t2\t2\tours\nA.1\t13\t3\t1\tours\n"
    b"A.2\t21\t1\t2\tours\nA.2\t22\t2\t1\tours\n"
)
SAID = {("A.1", "11"): 3, ("A.1", "12"): 0, ("A.1", "13"): 2, ("A.2", "21"): 2, ("A.2", "22"): 3}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "lab.toml").write_text(LAB)
    (tmp_path / "topics.xml").write_text(f"<Topics>{TOPIC.format(1)}{TOPIC.format(2)}</Topics>")
    (tmp_path / "qrels.tsv").write_text(
        "A.1\t0\t11\t3\nA.1\t0\t12\t0\nA.2\t0\t22\t2\nA.2\t0\t21\t0\n"
    )
    return tmp_path


def signed_up(name: str) -> Client:
    """Sign a user up through the page, confirm their address, and return their browser."""
    client = Client()
    person = {"email": f"{name}@example.org", "username": name, "password1": "a quiet blackboard"}
    assert client.post("/accounts/signup/", person).status_code == 302
    call_command("confirm_address", name, stdout=StringIO())
    return client


@pytest.mark.django_db(transaction=True)
def test_a_lab_goes_from_its_folder_to_a_leaderboard_that_a_visitor_reads(folder: Path) -> None:
    organizer, ada, grace = signed_up("organizer"), signed_up("ada"), signed_up("grace")
    call_command("load_lab", str(folder), organizer="organizer@example.org", verbosity=0)
    ada.post("/labs/small/teams/new/", {"name": "Ours"})
    team = Team.objects.get(name="Ours")
    grace.post(f"/join/{team.invitation_token}/")

    # The second member submits for the team; the run is checked before the answer comes, as tasks
    # run in this process.
    file = SimpleUploadedFile("Ours-task1-sums-auto-text-P.tsv", RUN)
    grace.post(
        "/labs/small/tasks/task1/runs/upload/", {"file": file, "team": team.pk, "submit": "yes"}
    )
    run = Run.objects.get(submitted_by=User.objects.get(username="grace"))
    assert (run.status, run.is_primary) == ("valid", True)

    assert b"sums" not in Client().get("/labs/small/tasks/task1/leaderboard/").content
    assert b"No current qrels" in organizer.get("/labs/small/tasks/task1/leaderboard/").content
    organizer.post("/labs/small/tasks/task1/qrels/1/current/")
    score_waiting(at=timezone.now())
    confirmed(organizer, "/labs/small/tasks/task1/leaderboard/release/", qrels="official")
    header, row = (
        Client()
        .get("/labs/small/tasks/task1/leaderboard/?format=tsv")
        .content.decode()
        .splitlines()
    )
    # A.1 is answered perfectly, A.2 not at all.
    cells = dict(zip(header.split("\t"), row.split("\t"), strict=True))
    assert (cells["team"], cells["run"], cells["primary"]) == ("Ours", "sums", "P")
    assert cells["nDCG'"] == "0.5000"


@pytest.mark.django_db(transaction=True)
def test_runs_are_pooled_assigned_judged_frozen_and_scored(folder: Path) -> None:
    (folder / "lab.toml").write_text(LAB.replace(OFFICIAL, ""))
    organizer, ada, _ = signed_up("organizer"), signed_up("ada"), signed_up("assessor")
    call_command("load_lab", str(folder), organizer="organizer@example.org", verbosity=0)
    ada.post("/labs/small/teams/new/", {"name": "Ours"})
    team = Team.objects.get(name="Ours")
    file = SimpleUploadedFile("Ours-task1-sums-auto-text-P.tsv", LONGER)
    ada.post(
        "/labs/small/tasks/task1/runs/upload/", {"file": file, "team": team.pk, "submit": "yes"}
    )

    options = {"seed": 7, "by": "organizer", "yes": True, "acknowledge": True}
    call_command("build_pool", "small/task1", **options, stdout=StringIO(), stderr=StringIO())
    PoolItem.objects.update(text="An answer.")  # the lab has no collection
    organizer.post("/labs/small/people/", {"person": "assessor", "role": "assessor"})
    assessor = User.objects.get(username="assessor")
    given = {"topics": ["A.1", "A.2"], "person": assessor.pk, "action": "assign"}
    organizer.post("/labs/small/tasks/task1/assignments/", given)
    for topic in ("A.1", "A.2"):
        desk = Desk(assessor, topic, lab="small")
        item = desk.next()
        while item:
            item = desk.submit(item, SAID[topic, name_of(item)])["next"]
    confirmed(organizer, "/labs/small/tasks/task1/qrels/freeze/", name="judged")

    score_waiting(at=timezone.now())
    confirmed(organizer, "/labs/small/tasks/task1/leaderboard/release/", qrels="judged")
    header, row = (
        Client()
        .get("/labs/small/tasks/task1/leaderboard/?format=tsv")
        .content.decode()
        .splitlines()
    )
    # The labels in the order of the run against the best order: 3 0 2 against 3 2 0, and 2 3
    # against 3 2.
    best = 3 + 2 / log2(3)
    expected = ((3 + 2 / log2(4)) / best + (2 + 3 / log2(3)) / best) / 2
    cells = dict(zip(header.split("\t"), row.split("\t"), strict=True))
    assert (cells["run"], cells["nDCG'"]) == ("sums", f"{expected:.4f}")


@pytest.mark.django_db
def test_a_forgotten_password_is_reset_through_the_message() -> None:
    signed_up("ada")
    Client().post("/accounts/password/reset/", {"email": "ada@example.org"})

    [letter] = [letter for letter in mail.outbox if "reset" in letter.subject.lower()]
    [link] = [word for word in letter.body.split() if "/accounts/password/reset/key/" in word]
    client = Client()
    form = client.get(link, follow=True)
    client.post(
        form.request["PATH_INFO"],
        {"password1": "another blackboard", "password2": "another blackboard"},
    )

    assert Client().login(username="ada", password="another blackboard")
