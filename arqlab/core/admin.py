"""The site administration: accounts, and the audit log of all labs.

Labs, tasks, topics, teams, roles and runs are not here: their own pages have rules that Django's
pages would have to repeat.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.contrib.auth.admin import UserAdmin
from django.db.models import Model
from django.http import HttpRequest

from arqlab.core import models
from arqlab.core.permissions import signed_in
from arqlab.core.services.audit import record_event
from arqlab.core.services.identity import Action, ask_identity, write_to_owner
from arqlab.web.lists import SearchForm

# Their pages show the secrets of second factors and the keys of sessions.
admin.site.unregister([Authenticator, UserSession])
ChangeList.search_form_class = SearchForm


def confirmed(admin_view: Callable[..., Any]) -> Any:
    """Return `AdminSite.admin_view` so that whoever changes something confirms who they are."""

    def wrapped(view: Callable[..., Any], cacheable: bool = False) -> Any:
        @wraps(view)
        def asking(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            if request.method not in ("GET", "HEAD", "OPTIONS") and view != admin.site.logout:
                ask_identity(request)
            return view(request, *args, **kwargs)

        return admin_view(asking, cacheable)

    return wrapped


@admin.register(models.User)
class PersonAdmin(UserAdmin):
    """User accounts. `delete_account` deletes them: their work keeps an author."""

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Return False: the work of an account would go with it."""
        return False

    def save_model(self, request: HttpRequest, obj: Model, form: Any, change: bool) -> None:
        """Save an account, log the changed fields and the user, and write to the owner."""
        if isinstance(obj, models.User) and change:
            address = str(form.initial.get("email") or "")
            what = ", ".join(form.changed_data)
            write_to_owner(Action.ADMINISTER, obj, detail=what, address=address)
        super().save_model(request, obj, form, change)
        verb = f"admin.{'change' if change else 'add'}-user"
        actor, fields = signed_in(request), form.changed_data
        record_event(verb, str(obj), actor, fields=fields)


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
