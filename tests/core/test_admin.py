"""The site administrator's pages."""

import pytest

from arqlab.core.models import AuditEvent, Lab, Task, Team

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
