"""A label that reports an item opens one ticket, from whichever entry point it comes."""

import re
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import pytest
from django.core.files.base import ContentFile
from django.core.management import call_command
from django.urls import reverse
from django.utils import timezone

from arqlab.core.models import User
from arqlab.jobs.services.jobs import run_next_job
from arqlab.labs.services.people import revoke_role
from arqlab.notices.models import Notice
from assessment.models import Judgment, LateLabel, PoolItem, Ticket, TicketPolicy
from assessment.tickets.services.answers import answer_ticket
from assessment.tickets.services.policies import apply_policies
from tests.assessment.factories import NOW, assign, make_pool
from tests.assessment.judging.desk import Desk
from tests.assessment.rounds.factories import round_of
from tests.factories import AssessorFactory, Scene
from tests.paths import ROOT

pytestmark = pytest.mark.django_db
FAILURE, UNSURE = 5, 6
COMMENT = "I cannot read it."


class Place(NamedTuple):
    """A lab with one item to judge, a folder for files, and an expert."""

    scene: Scene
    folder: Path
    expert: User


@pytest.fixture
def place(scene, tmp_path) -> Place:
    make_pool(scene.task, {"A.1": ["10"]})
    assign(scene.assessor, *scene.task.topics.all())
    return Place(scene, tmp_path, AssessorFactory(lab=scene.lab, user__username="ada").user)


def on_page(place: Place, label: int) -> None:
    """Judge on the judging page."""
    desk = Desk(place.scene.assessor)
    desk.submit(desk.next(), label, comment=COMMENT)


def on_trip(place: Place, label: int) -> None:
    """Judge an item of an offline trip, whose labels are sent later."""
    desk = Desk(place.scene.assessor)
    desk.post("trip/", {"hours": 24})
    desk.submit(desk.next(), label, comment=COMMENT, given_at=timezone.now().isoformat())


def late_and_kept(place: Place, label: int) -> None:
    """Judge after the role ended; an organizer keeps the label."""
    desk = Desk(place.scene.assessor)
    item = desk.next()
    lab, assessor = place.scene.lab, place.scene.assessor
    revoke_role(lab=lab, user=assessor, role="assessor", by=place.scene.organizer)
    desk.submit(item, label, comment=COMMENT)
    page = reverse("assessment:late-label-list", args=["arqmath-x", "task1"])
    sent = {"labels": [LateLabel.objects.get().pk], "decision": "kept", "reason": "In time."}
    Desk(place.scene.organizer).client.post(page, sent)


def file(place: Place, text: str) -> Path:
    path = place.folder / "labels.tsv"
    path.write_text(text)
    return path


def by_command(place: Place, label: int) -> None:
    """Import a file by a command."""
    path = file(place, f"A.1\t0\t10\t{label}\n")
    call_command("import_judgments", "arqmath-x/task1", str(path), yes=True, stdout=StringIO())


def on_load_page(place: Place, label: int) -> None:
    """Load a file of labels on the page of the task."""
    page = reverse("desk:task-load", args=["arqmath-x", "task1", "judgments"])
    text = f"A.1\t0\t10\t{label}\n".encode()
    client = Desk(place.scene.organizer).client
    client.post(page, {"file": ContentFile(text, name="labels.tsv")})
    run_next_job(at=NOW)


def by_turkle(place: Place, label: int) -> None:
    """Import the results of a batch of Turkle."""
    header = '"Input.topic","Input.item","Answer.label","Answer.comment","Turkle.Username"\n'
    cells = "A.1", "10", str(label), COMMENT, place.scene.assessor.username
    path = file(place, header + ",".join(f'"{cell}"' for cell in cells) + "\n")
    call_command("import_judgments", "arqmath-x/task1", str(path), yes=True, stdout=StringIO())


OFFICIAL: dict[str, Callable[[Place, int], None]] = {
    way.__name__: way
    for way in (on_page, on_trip, late_and_kept, by_command, on_load_page, by_turkle)
}


@pytest.mark.parametrize("label", [FAILURE, UNSURE])
@pytest.mark.parametrize("way", OFFICIAL)
def test_a_report_opens_one_ticket(place, way, label):
    OFFICIAL[way](place, label)

    assert Judgment.objects.get(is_current=True).label == label
    assert Ticket.objects.get().state == "open"


@pytest.mark.parametrize("way", OFFICIAL)
def test_a_report_starts_the_policy_of_its_task_once(place, way):
    policy = {"actions": {"5": "expert"}, "expert": place.expert}
    TicketPolicy.objects.create(task=place.scene.task, **policy)
    OFFICIAL[way](place, FAILURE)

    assert Ticket.objects.get().state == "with-expert"
    assert Notice.objects.filter(user=place.expert, kind="ticket-sent").count() == 1


@pytest.mark.parametrize("kind", ["training", "second", "sample"])
def test_a_report_in_a_round_opens_a_ticket_and_never_starts_the_policy_of_the_task(place, kind):
    scene, policy = place.scene, {"actions": {"5": "expert"}, "expert": place.expert}
    TicketPolicy.objects.create(task=scene.task, **policy)
    made = round_of(scene.task, kind, scene.assessor)
    desk = Desk(scene.assessor, round=made.key)
    desk.submit(desk.next(), FAILURE, comment=COMMENT)

    assert Ticket.objects.get().state == "open"
    assert not Notice.objects.filter(user=place.expert).exists()


@pytest.mark.parametrize("way", ["on_page", "by_command", "by_turkle"])
def test_a_report_that_replaces_another_takes_its_ticket_over_and_a_judgment_closes_it(place, way):
    OFFICIAL[way](place, FAILURE)
    for label in (UNSURE, 3):
        if way == "on_page":
            change(place, label)
        else:
            OFFICIAL[way](place, label)
        states = {UNSURE: "open", 3: "answered"}
        assert (Ticket.objects.get().state, Judgment.objects.get(is_current=True).label) == (
            states[label],
            label,
        )


def change(place: Place, label: int) -> None:
    """Change the label of the only item on the page."""
    desk, item = Desk(place.scene.assessor), PoolItem.official.get()
    desk.submit(desk.get(f"items/{item.pk}/"), label, comment=COMMENT, reason="A new look.")


@pytest.mark.parametrize("way", ["on_page", "by_command", "by_turkle"])
@pytest.mark.parametrize("label", [UNSURE, 3])
def test_an_answered_ticket_stays_answered_whatever_label_follows(place, way, label):
    OFFICIAL[way](place, FAILURE)
    ticket = Ticket.objects.get()
    organizer = place.scene.organizer
    answer_ticket(ticket=ticket, answer="See it.", returns_item=False, at=NOW, by=organizer)
    change(place, label) if way == "on_page" else OFFICIAL[way](place, label)

    ticket.refresh_from_db()
    assert (ticket.answer, ticket.answered_by, ticket.judgment.label) == (
        "See it.",
        organizer,
        FAILURE,
    )
    assert Ticket.objects.exclude(pk=ticket.pk).count() == (label == UNSURE)


@pytest.mark.parametrize("action", ["expert", "another"])
def test_a_policy_leaves_an_answered_ticket_as_it_is(place, action):
    on_page(place, FAILURE)
    ticket = Ticket.objects.get()
    organizer = place.scene.organizer
    answer_ticket(ticket=ticket, answer="See it.", returns_item=False, at=NOW, by=organizer)
    policy = {"actions": {"5": action}, "expert": place.expert}
    TicketPolicy.objects.create(task=place.scene.task, **policy)
    assign(place.expert, *place.scene.task.topics.all())
    apply_policies([ticket.pk], at=NOW)

    ticket.refresh_from_db()
    assert (ticket.answer, ticket.answered_by, ticket.expert) == ("See it.", organizer, None)
    assert Judgment.objects.get().is_current


def test_an_import_of_reports_without_names_asks_no_other_assessor(place):
    TicketPolicy.objects.create(task=place.scene.task, actions={"5": "another"})
    assign(place.expert, *place.scene.task.topics.all())
    by_command(place, FAILURE)

    assert Ticket.objects.get().state == "open"
    assert Judgment.objects.get().is_current


def test_every_module_that_stores_labels_updates_their_tickets():
    stores = re.compile(r"Judgment\.objects\.(create|bulk_create|.*\.update\(is_current=True)")
    storing = {
        str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
        for app in ("assessment", "evaluation", "analyses", "desk")
        for path in (ROOT / app).rglob("*.py")
        if "migrations" not in path.parts and stores.search(path.read_text(encoding="utf-8"))
    }
    assert sorted(storing) == [
        "assessment/judging/services/importing.py",
        "assessment/judging/services/judgments.py",
        "assessment/judging/services/late_labels.py",
        "assessment/rounds/services/adjudication.py",
    ]
    assert all("update_tickets(" in text for text in storing.values())
