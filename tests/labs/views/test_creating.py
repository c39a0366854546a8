"""Labs and tasks are created on pages."""

from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import Permission

from arqlab.core.models import AuditEvent, Lab, Membership, Task
from tests.desk.views.test_home import text_of
from tests.factories import FormulaTaskFactory, UserFactory

LAB = {"name": "NTCIR-12 MathIR", "slug": "", "protocol": "ntcir-12", "description": ""}
TASK = {"name": "Answer retrieval", "slug": "task1", "kind": "answers", "description": "Find."}


@pytest.fixture
def creator(db):
    person = UserFactory(username="creator")
    person.user_permissions.add(Permission.objects.get(codename="add_lab"))
    return person


@pytest.fixture
def new_lab(creator, client_of):
    client_of(creator).post("/new-lab/", LAB | {"protocol": "arqmath-3", "slug": "new"})
    return Lab.objects.get()


def test_who_creates_a_lab_organizes_it(creator, client_of):
    response = client_of(creator).post("/new-lab/", LAB)

    lab = Lab.objects.get()
    assert response.url == "/labs/ntcir-12-mathir/"
    assert (lab.name, lab.protocol, lab.is_public) == ("NTCIR-12 MathIR", "ntcir-12", False)
    assert lab.memberships.get().role == Membership.Role.ORGANIZER
    assert [event.verb for event in AuditEvent.objects.all()] == ["role.grant", "lab.create"]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"name": ""}, "Enter a lab name."),
        ({"slug": "Not a slug"}, "Enter an address: at most 50 lower-case letters, digits"),
        ({"slug": "arqmath-x"}, "Another lab has the address arqmath-x."),
        ({"protocol": "trec"}, "trec is not one of the available choices."),
    ],
)
def test_a_wrong_lab_is_sent_back_with_a_sentence(scene, creator, client_of, wrong, said):
    page = text_of(client_of(creator).post("/new-lab/", LAB | wrong))

    assert said in page
    assert Lab.objects.get() == scene.lab


def test_the_link_to_create_a_lab_is_shown_to_those_who_may(scene, creator, client_of):
    assert "/new-lab/" in text_of(client_of(creator).get("/labs/"))
    assert "/new-lab/" not in text_of(client_of(scene.organizer).get("/labs/"))


def test_a_new_task_has_the_rules_of_the_preset(new_lab, creator, client_of):
    response = client_of(creator).post("/labs/new/new-task/", TASK)

    task = Task.objects.get()
    assert response.url == "/labs/new/tasks/task1/"
    assert (task.protocol, task.trec_items, task.overrides) == (task.preset, "posts", {})
    assert AuditEvent.objects.filter(verb="task.create", lab=new_lab).count() == 1


def test_a_new_task_comes_last(scene, client_of):
    FormulaTaskFactory(lab=scene.lab, slug="task2", position=7)

    client_of(scene.organizer).post("/labs/arqmath-x/new-task/", TASK | {"slug": "task3"})

    assert [task.slug for task in scene.lab.tasks.all()] == ["task1", "task2", "task3"]


def test_only_kinds_of_the_protocol_are_offered(creator, client_of):
    client = client_of(creator)
    client.post("/new-lab/", LAB)

    page = text_of(client.get("/labs/ntcir-12-mathir/new-task/"))

    assert 'value="formulas"' in page
    assert 'value="answers"' not in page


@pytest.mark.parametrize(
    ("entered", "expected"),
    [
        ("Etc/GMT+12", datetime(2127, 6, 6, 11, 59, 59, tzinfo=UTC)),
        ("UTC", datetime(2127, 6, 5, 23, 59, 59, tzinfo=UTC)),
        ("Europe/Berlin", datetime(2127, 6, 5, 21, 59, 59, tzinfo=UTC)),
    ],
)
def test_a_deadline_is_entered_in_a_zone(new_lab, creator, client_of, entered, expected):
    form = TASK | {"deadline": "2127-06-05T23:59:59", "deadline_zone": entered}

    client_of(creator).post("/labs/new/new-task/", form)

    assert Task.objects.get().deadline == expected


def test_a_judging_deadline_is_entered_in_a_zone(new_lab, creator, client_of):
    form = TASK | {"judging_deadline": "2127-06-05T23:59", "judging_deadline_zone": "Etc/GMT+12"}

    client_of(creator).post("/labs/new/new-task/", form)

    assert Task.objects.get().judging_deadline == datetime(2127, 6, 6, 11, 59, tzinfo=UTC)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"slug": "task1"}, "Another task has the address task1."),
        ({"deadline": "2127-06-05T10:00", "deadline_zone": "Mars"}, "Unknown time zone."),
        ({"deadline": "2127-06-05T10:00", "deadline_zone": "../passwd"}, "Unknown time zone."),
        (
            {"deadline": "2027-03-28T02:30", "deadline_zone": "Europe/Berlin"},
            "interpreted in time zone Europe/Berlin",
        ),
        (
            {"opens_at": "2127-06-05T10:00", "deadline": "2127-06-05T09:00"},
            "The task opens after its deadline.",
        ),
        (
            {"deadline": "2127-06-05T10:00", "judging_deadline": "2127-06-05T09:00"},
            "The judging deadline is before the task closes for submission.",
        ),
        (
            {"opens_at": "2127-06-05T10:00", "judging_deadline": "2127-06-05T09:00"},
            "The judging deadline is before the task opens.",
        ),
    ],
)
def test_a_wrong_task_is_sent_back_with_its_values(scene, client_of, wrong, said):
    form = TASK | {"slug": "task2"} | wrong

    page = text_of(client_of(scene.organizer).post("/labs/arqmath-x/new-task/", form))

    assert said in page
    assert f'value="{form["slug"]}"' in page
    assert Task.objects.get() == scene.task


def test_an_edited_task_shows_its_deadline_anywhere_on_earth_and_in_utc(scene, client_of):
    Task.objects.update(deadline=datetime(2127, 5, 2, 11, 59, 59, tzinfo=UTC))

    page = text_of(client_of(scene.organizer).get("/labs/arqmath-x/tasks/task1/edit/"))

    assert 'value="2127-05-01T23:59:59"' in page
    assert "2127-05-02 11:59:59 UTC</output>" in page
