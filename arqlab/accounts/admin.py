"""The site administration: accounts, and the audit log of all labs.

Labs, tasks, topics, teams, roles and runs are not here: their own pages have rules that Django's
pages would have to repeat.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from allauth.account.admin import EmailAddressAdmin
from allauth.account.models import EmailAddress
from allauth.core import context
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.admin.views.main import ChangeList
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.forms import AdminPasswordChangeForm
from django.db.models import Model, QuerySet
from django.forms import ModelForm
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from arqlab.audit.services.identity import Action, ask_identity, write_to_owner
from arqlab.audit.services.recording import record_event
from arqlab.core import models
from arqlab.core.views import signed_in
from arqlab.web import SearchForm
from arqlab.web.pages import View

# Their pages show the secrets of second factors and the keys of sessions.
admin.site.unregister([Authenticator, UserSession, EmailAddress])
ChangeList.search_form_class = SearchForm


AdminView = Callable[[View, bool], View]
"""Makes a view of the site administration of another view, which browsers may keep or not."""


def confirmed(admin_view: AdminView) -> Any:
    """Return `AdminSite.admin_view` so that whoever changes something confirms who they are."""

    def wrapped(view: View, cacheable: bool = False) -> View:
        @wraps(view)
        def asking(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
            if request.method not in ("GET", "HEAD", "OPTIONS") and view != admin.site.logout:
                ask_identity(request)
            return view(request, *args, **kwargs)

        return admin_view(asking, cacheable)

    return wrapped


def report_change(
    request: HttpRequest, owner: models.User, fields: list[str], *addresses: str
) -> None:
    """Log what is changed in an account, and write to its owner.

    It is called before the change: the email goes to the address that the account still has, or to
    those given.
    """
    for address in dict.fromkeys(addresses) or [""]:
        write_to_owner(Action.ADMINISTER, owner, detail=", ".join(fields), address=address)
    record_event("admin.change-user", owner, signed_in(request), fields=fields)


def report_address(request: HttpRequest, address: EmailAddress) -> None:
    """Log that an address is changed, and write to it and to the primary one of its account."""
    primary = EmailAddress.objects.get_primary_email(address.user)
    both = filter(None, [primary, address.email])
    report_change(request, address.user, [f"email address {address.email}"], *both)


class PasswordForm(AdminPasswordChangeForm):
    """A new password of somebody, or none."""

    def save(self, commit: bool = True) -> models.User:
        """Save the password, log the user, and write to the owner."""
        report_change(context.request, self.user, ["password"])
        saved: models.User = super().save(commit)
        return saved


@admin.register(models.User)
class PersonAdmin(UserAdmin):
    """User accounts. `delete_account` deletes them: their work keeps an author."""

    change_password_form = PasswordForm

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Return False: the work of an account would go with it."""
        return False

    def save_model(self, request: HttpRequest, obj: Model, form: ModelForm, change: bool) -> None:
        """Save an account, log the changed fields and the user, and write to the owner."""
        fields, address = form.changed_data, form.initial.get("email")
        if isinstance(obj, models.User) and change:
            report_change(request, obj, fields, *filter(None, [address]))
        super().save_model(request, obj, form, change)
        if not change:
            record_event("admin.add-user", obj, signed_in(request), fields=fields)


@admin.register(EmailAddress)
class AddressAdmin(EmailAddressAdmin):
    """Email addresses of accounts."""

    def save_model(self, request: HttpRequest, obj: Model, form: ModelForm, change: bool) -> None:
        """Save an address, log the user, and write to its owner and to the owner from before."""
        earlier = EmailAddress.objects.filter(pk=obj.pk)
        for address in {one.user: one for one in [obj, *earlier]}.values():
            report_address(request, address)
        super().save_model(request, obj, form, change)

    def log_deletions(
        self, request: HttpRequest, queryset: QuerySet[EmailAddress]
    ) -> list[LogEntry]:
        """Log addresses that are about to be deleted, and write to their owners."""
        for address in queryset:
            report_address(request, address)
        logged: list[LogEntry] = super().log_deletions(request, queryset)
        return logged

    @admin.action(description="Mark selected email addresses as verified")
    def make_verified(self, request: HttpRequest, queryset: QuerySet[EmailAddress]) -> None:
        """Mark addresses as verified, log the user, and write to their owners."""
        for address in queryset.filter(verified=False):
            report_address(request, address)
        super().make_verified(request, queryset)


@admin.register(models.AuditEvent)
class AuditEventAdmin(admin.ModelAdmin):
    """The audit log of all labs, which nobody changes."""

    list_display = ["at", "actor", "verb", "target", "lab"]
    list_filter = ["lab"]
    search_fields = ["verb", "target"]
    date_hierarchy = "at"
    list_select_related = ["actor", "lab"]

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Return False: only services add events, which never change."""
        return False

    has_change_permission = has_delete_permission = has_add_permission
