"""The site administrator's pages."""

from datetime import UTC, datetime

import pytest
from django.apps import apps

from arqlab.core.models import AuditEvent, Lab, Task, Team

NOW = datetime(2026, 11, 23, tzinfo=UTC)

PAGES = ["user", "lab", "task", "topic", "team", "membership", "auditevent"]


@pytest.mark.parametrize("page", PAGES)
def test_a_superuser_reads_every_page(scene, client_of, page):
    assert client_of(scene.superuser).get(f"/admin/core/{page}/").status_code == 200


@pytest.mark.parametrize("role", ["visitor", "member", "organizer"])
def test_others_are_sent_to_sign_in(scene, client_of, role):
    assert client_of(scene.people[role]).get("/admin/core/lab/").status_code == 302


def test_a_change_in_the_admin_is_audited(scene, client_of):
    form = {"slug": scene.lab.slug, "name": "Renamed", "protocol": "unknown"}

    client_of(scene.superuser).post(f"/admin/core/lab/{scene.lab.pk}/change/", form)

    event = AuditEvent.objects.get()
    assert Lab.objects.values_list("name", "protocol").get() == ("Renamed", "arqmath-3")
    assert (event.verb, event.actor, event.lab) == ("admin.change-lab", scene.superuser, scene.lab)


def test_a_deletion_in_the_admin_is_audited(scene, client_of):
    client_of(scene.superuser).post(f"/admin/core/team/{scene.team.pk}/delete/", {"post": "yes"})

    assert not Team.objects.filter(pk=scene.team.pk).exists()
    assert AuditEvent.objects.get().verb == "admin.delete-team"


@pytest.mark.parametrize("page", ["add/", "1/delete/"])
def test_events_cannot_be_added_or_deleted_in_the_admin(scene, client_of, page):
    AuditEvent.objects.create(pk=1, verb="x", target="y")

    assert client_of(scene.superuser).get(f"/admin/core/auditevent/{page}").status_code == 403


@pytest.mark.parametrize("page", ["lab", "task", "topic"])
def test_values_of_the_folder_are_read_only_in_the_admin(scene, client_of, page):
    assert client_of(scene.superuser).get(f"/admin/core/{page}/add/").status_code == 403


def test_rules_are_read_only_in_the_admin(scene, client_of):
    form = {
        "slug": "task1",
        "name": "Renamed",
        "position": "1",
        "trec_items": "posts",
        "threads": "at-release",
        "overrides": '{"limit": 0}',
    }

    client_of(scene.superuser).post(f"/admin/core/task/{scene.task.pk}/change/", form)

    task = Task.objects.get()
    assert (task.name, task.overrides) == ("Renamed", {})


@pytest.fixture
def archived(scene):
    """Archive the lab."""
    Lab.objects.update(archived_at=NOW)


def fields_of(record) -> dict[str, str]:
    """Return a form with the plain fields of a lab or task."""
    names = ("slug", "name", "description", "position", "trec_items", "threads")
    return {name: getattr(record, name) for name in names if hasattr(record, name)}


@pytest.mark.parametrize("page", ["task", "team", "membership", "topic"])
@pytest.mark.parametrize("action", ["change", "delete"])
def test_the_content_of_an_archived_lab_is_read_only_in_the_admin(
    scene, archived, client_of, page, action
):
    model = apps.get_model("core", page)
    record = model.objects.first()
    before = model.objects.filter(pk=record.pk).values().get()
    client = client_of(scene.superuser)
    address = f"/admin/core/{page}/{record.pk}/"

    response = client.post(f"{address}{action}/", {"name": "Another", "post": "yes"})

    assert response.status_code == 403
    assert model.objects.filter(pk=record.pk).values().get() == before
    assert not AuditEvent.objects.exists()
    assert client.get(f"{address}change/").status_code == 200


def test_an_archived_lab_is_neither_changed_nor_deleted_but_restored(scene, archived, client_of):
    client, address = client_of(scene.superuser), f"/admin/core/lab/{scene.lab.pk}/"
    form = fields_of(scene.lab) | {"name": "Renamed"}

    assert client.post(f"{address}delete/", {"post": "yes"}).status_code == 403
    client.post(
        f"{address}change/", form | {"archived_at_0": "2026-11-23", "archived_at_1": "10:00"}
    )
    assert Lab.objects.get().archived_at is not None
    client.post(f"{address}change/", form)

    lab = Lab.objects.get()
    assert (lab.name, lab.archived_at) == (scene.lab.name, None)
    client.post(f"{address}change/", form)
    assert Lab.objects.get().name == "Renamed"


def test_an_archived_task_is_not_changed_but_restored(scene, client_of):
    Task.objects.update(archived_at=NOW)
    client, address = client_of(scene.superuser), f"/admin/core/task/{scene.task.pk}/"
    form = fields_of(scene.task) | {"name": "Renamed"}

    assert client.post(f"{address}delete/", {"post": "yes"}).status_code == 403
    client.post(f"{address}change/", form)

    task = Task.objects.get()
    assert (task.name, task.archived_at) == (scene.task.name, None)


@pytest.mark.parametrize(
    ("page", "form"),
    [
        ("team", {"name": "Gamma"}),
        ("membership", {"role": "organizer"}),
    ],
)
def test_nothing_is_added_to_an_archived_lab(scene, archived, client_of, page, form):
    form = form | {"lab": scene.lab.pk, "user": scene.outsider.pk}
    before = apps.get_model("core", page).objects.count()

    response = client_of(scene.superuser).post(f"/admin/core/{page}/add/", form)

    assert "Select a valid choice" in response.text
    assert apps.get_model("core", page).objects.count() == before


def test_members_of_an_archived_lab_are_not_deleted(scene, archived, client_of):
    address = f"/admin/core/user/{scene.member.pk}/delete/"

    response = client_of(scene.superuser).post(address, {"post": "yes"})

    assert response.status_code == 403
    assert scene.team.memberships.filter(user=scene.member).exists()


def test_the_selected_records_of_an_archived_lab_are_not_deleted(scene, archived, client_of):
    form = {"action": "delete_selected", "_selected_action": [scene.team.pk], "post": "yes"}

    client_of(scene.superuser).post("/admin/core/team/", form)

    assert Team.objects.filter(pk=scene.team.pk).exists()
