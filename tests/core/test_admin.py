"""The site administrator's pages."""

import pytest
from django.contrib import admin

from arqlab.core.models import AuditEvent, User


def test_only_accounts_and_the_audit_log_are_administered():
    """What a lab consists of has pages of its own, which keep its rules."""
    own = {model._meta.label_lower for model in admin.site._registry}

    assert own == {"core.user", "core.auditevent", "auth.group", "account.emailaddress"}


@pytest.mark.parametrize("page", ["user", "auditevent"])
def test_a_superuser_reads_every_page(scene, client_of, page):
    assert client_of(scene.superuser).get(f"/admin/core/{page}/").status_code == 200


@pytest.mark.parametrize("role", ["visitor", "member", "organizer"])
def test_others_are_sent_to_sign_in(scene, client_of, role):
    assert client_of(scene.people[role]).get("/admin/core/user/").status_code == 302


def test_a_change_of_an_account_is_audited(scene, client_of):
    form = {"username": scene.member.username, "first_name": "Ada", "date_joined_0": "2026-11-23"}
    form |= {"date_joined_1": "10:00", "email": scene.member.email}

    client_of(scene.superuser).post(f"/admin/core/user/{scene.member.pk}/change/", form)

    event = AuditEvent.objects.get()
    assert User.objects.get(pk=scene.member.pk).first_name == "Ada"
    assert (event.verb, event.actor) == ("admin.change-user", scene.superuser)


def test_an_account_is_deactivated_instead_of_deleted(scene, client_of):
    address = f"/admin/core/user/{scene.member.pk}/delete/"

    assert client_of(scene.superuser).post(address, {"post": "yes"}).status_code == 403


@pytest.mark.parametrize("page", ["add/", "1/delete/"])
def test_events_cannot_be_added_or_deleted_in_the_admin(scene, client_of, page):
    AuditEvent.objects.create(pk=1, verb="x", target="y")

    assert client_of(scene.superuser).get(f"/admin/core/auditevent/{page}").status_code == 403
