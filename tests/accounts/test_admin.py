"""The site administrator's pages."""

import pytest
from allauth.account.models import EmailAddress
from django.contrib import admin
from django.core import mail
from django.urls import reverse

from arqlab.core.models import AuditEvent, User

PASSWORD = "correct horse battery"
OWN, SECOND, NEW = "member-arqmath-x@example.org", "second@example.org", "new@example.org"
USER = {"username": "member-arqmath-x", "date_joined_0": "2026-11-23", "date_joined_1": "10:00"}
YES = {"post": "yes"}
ADDRESS = "account_emailaddress"
FORMS = {
    "core_user_change": (USER | {"email": NEW}, {OWN}),
    "auth_user_password_change": (
        {"password1": PASSWORD, "password2": PASSWORD, "usable_password": "true"},
        {OWN},
    ),
    f"{ADDRESS}_add": ({"email": NEW}, {OWN, NEW}),
    f"{ADDRESS}_change": ({"email": NEW, "verified": "on"}, {OWN, SECOND}),
    f"{ADDRESS}_delete": (YES, {OWN, SECOND}),
    f"{ADDRESS}_changelist delete_selected": (YES, {OWN, SECOND}),
    f"{ADDRESS}_changelist make_verified": ({}, {OWN, SECOND}),
}
"""The forms that change who can use an account: what is sent, and who reads of it."""
OTHERS = {
    *("index", "login", "logout", "jsi18n", "autocomplete", "view_on_site", "password_change_done"),
    *("auth_group_add", "auth_group_change", "auth_group_delete"),  # permissions alone
    "auth_group_changelist delete_selected",
    "core_user_add",  # which has no owner yet
    "password_change",  # leads to the page of accounts
    # Refused to everybody.
    *("core_user_delete", "core_auditevent_add", "core_auditevent_change"),
    "core_auditevent_delete",
}


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


def test_every_form_writes_to_the_owner_or_changes_no_account(scene, rf) -> None:
    request = rf.get("/admin/")
    request.user = scene.superuser
    patterns = [
        one for each in admin.site.get_urls() for one in getattr(each, "url_patterns", [each])
    ]
    names = {str(one.name) for one in patterns if one.name}
    for model, page in admin.site._registry.items():
        actions = page.get_actions(request) if page.has_change_permission(request) else {}
        names |= {
            f"{model._meta.app_label}_{model._meta.model_name}_changelist {one}" for one in actions
        }
    reading = ("_changelist", "_history", "app_list")

    assert {name for name in names if not name.endswith(reading)} == FORMS.keys() | OTHERS


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", FORMS)
def test_a_change_of_an_account_is_audited_and_its_owner_gets_an_email(
    scene, client_of, settings, name
):
    settings.SENDS_MAIL = settings.ACCOUNT_EMAIL_NOTIFICATIONS = True
    EmailAddress.objects.filter(user=scene.member).update(primary=True)
    second = EmailAddress.objects.create(user=scene.member, email=SECOND)
    page, _, action = name.partition(" ")
    key = second.pk if page.startswith(ADDRESS) else scene.member.pk
    has_key = not page.endswith(("_add", "_changelist"))
    fields, readers = FORMS[name]
    fields = fields | {"user": scene.member.pk, "action": action, "_selected_action": second.pk}
    path = reverse(f"admin:{page}", args=[key] if has_key else [])

    answer = client_of(scene.superuser).post(path, fields)

    assert answer.status_code == 302
    assert {to for letter in mail.outbox for to in letter.to} == readers
    assert len(mail.outbox) == len(readers)
    assert "An administrator of the server changed your account" in mail.outbox[0].body
    event = AuditEvent.objects.get(verb="admin.change-user")
    assert (event.person, event.actor) == (scene.member, scene.superuser)


@pytest.mark.django_db(transaction=True)
def test_the_owners_from_before_and_after_read_that_an_address_changes_hands(
    scene, client_of, settings
):
    settings.SENDS_MAIL = settings.ACCOUNT_EMAIL_NOTIFICATIONS = True
    second = EmailAddress.objects.create(user=scene.member, email=SECOND)
    fields = {"email": SECOND, "user": scene.outsider.pk, "verified": "on"}

    client_of(scene.superuser).post(f"/admin/account/emailaddress/{second.pk}/change/", fields)

    readers = [to for letter in mail.outbox for to in letter.to]
    assert sorted(readers) == [OWN, scene.outsider.email, SECOND, SECOND]


def test_administrators_change_their_own_password_where_everybody_does(scene, client_of):
    answer = client_of(scene.superuser).post("/admin/password_change/", {})

    assert answer.url == "/accounts/password/change/"
