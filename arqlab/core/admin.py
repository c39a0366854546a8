"""The site administration of people, labs and the audit log. All changes are audited."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.db.models import Model, URLField
from django.forms import ModelChoiceField
from django.http import HttpRequest

from arqlab.core import models
from arqlab.core.permissions import signed_in
from arqlab.core.services.audit import record_event


class AuditedAdmin(admin.ModelAdmin):
    """An admin page that records its changes in the audit log of the lab.

    Records of an archived lab or task are read-only, and none can be moved into one.
    """

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Return whether a user may change a record, or records at all."""
        return super().has_change_permission(request, obj) and not _archives_of(obj)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Return whether a user may delete a record, or records at all."""
        return super().has_delete_permission(request, obj) and not _archives_of(obj)

    def formfield_for_foreignkey(
        self, db_field: Any, request: HttpRequest, **kwargs: Any
    ) -> ModelChoiceField | None:
        """Return the field of a form; offer no archived lab, nor what belongs to one."""
        model = db_field.related_model
        if model in PATHS_TO_LABS:
            live = {f"{PATHS_TO_LABS[model]}archived_at": None}
            kwargs["queryset"] = model._default_manager.filter(**live)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def save_model(self, request: HttpRequest, obj: Model, form: Any, change: bool) -> None:
        """Save a record and log the changed fields and the user."""
        super().save_model(request, obj, form, change)
        self._record(request, obj, "change" if change else "add", fields=form.changed_data)

    def delete_model(self, request: HttpRequest, obj: Model) -> None:
        """Delete a record and log the user. A lab's audit log is deleted with the lab."""
        self._record(request, obj, "delete")
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: Any) -> None:
        """Delete the selected records one by one, with an audit event for each."""
        for record in queryset:
            self.delete_model(request, record)

    def _record(self, request: HttpRequest, obj: Model, what: str, **detail: Any) -> None:
        lab = None if isinstance(obj, models.Lab) and what == "delete" else _lab_of(obj)
        verb = f"admin.{what}-{obj._meta.model_name}"
        record_event(verb=verb, target=obj, lab=lab, actor=signed_in(request), **detail)


class ReadOnlyAdmin(admin.ModelAdmin):
    """An admin page for records that only services write."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Return False: only services add these records."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Return False: these records never change."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Return False: these records are never deleted."""
        return False


def _lab_of(record: Any) -> models.Lab | None:
    """Return the lab of a record, or None for a user."""
    if isinstance(record, models.Lab):
        return record
    return record.task.lab if isinstance(record, models.Topic) else getattr(record, "lab", None)


PATHS_TO_LABS = {models.Lab: "", models.Team: "lab__"}
"""The records that can be chosen in forms, with the paths to their labs."""


def _archives_of(record: Any) -> list[models.Lab | models.Task]:
    """Return the archived lab and the archived task that a record is or belongs to."""
    task = record if isinstance(record, models.Task) else getattr(record, "task", None)
    return [one for one in (_lab_of(record), task) if one and one.archived_at]


def _readonly_but_archiving(page: admin.ModelAdmin, obj: Any) -> list[str]:
    """Return the read-only fields of a lab or task: if it is archived, all but the date."""
    if obj is None or obj.archived_at is None:
        return list(page.readonly_fields)
    names = {field.name for field in obj._meta.get_fields() if field.concrete and field.editable}
    return sorted(names - {"archived_at", "id"})


@admin.register(models.User)
class PersonAdmin(AuditedAdmin, UserAdmin):
    """User accounts."""


@admin.register(models.Lab)
class LabAdmin(AuditedAdmin):
    """Labs; their tasks and topics come from a folder."""

    list_display = ["name", "slug", "protocol", "is_public"]
    search_fields = ["name", "slug"]
    readonly_fields = ["protocol"]

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Return whether a user may change labs: an archived lab can be restored."""
        return admin.ModelAdmin.has_change_permission(self, request, obj)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """Return the read-only fields; of an archived lab, only the archiving can be changed."""
        return _readonly_but_archiving(self, obj)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Return False: labs are loaded from a folder."""
        return False


@admin.register(models.Task)
class TaskAdmin(AuditedAdmin):
    """Tasks of all labs."""

    list_display = ["name", "lab", "slug", "kind", "opens_at", "deadline", "judging_deadline"]
    list_filter = ["kind", "lab"]
    list_select_related = ["lab"]
    readonly_fields = ["lab", "kind", "overrides"]

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Return whether a user may change tasks: an archived task can be restored."""
        is_allowed = admin.ModelAdmin.has_change_permission(self, request, obj)
        return is_allowed and _lab_of(obj) not in _archives_of(obj)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """Return the read-only fields; of an archived task, only the archiving can be changed."""
        return _readonly_but_archiving(self, obj)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Return False: tasks are loaded from a folder."""
        return False


@admin.register(models.Topic)
class TopicAdmin(AuditedAdmin):
    """Topics, read-only. Corrections are loaded from the folder, which also typesets them."""

    list_display = ["query_id", "task", "position", "title"]
    list_filter = ["task"]
    list_select_related = ["task__lab"]
    search_fields = ["query_id", "title"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Return False: topics are loaded from a folder."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Return False: topics are loaded from a folder."""
        return False


@admin.register(models.Team)
class TeamAdmin(AuditedAdmin):
    """Teams of all labs, without their secret invitation tokens."""

    list_display = ["name", "lab", "created_at"]
    list_filter = ["lab"]
    search_fields = ["name"]
    exclude = ["invitation_token"]
    formfield_overrides = {URLField: {"assume_scheme": "https"}}


@admin.register(models.Membership)
class MembershipAdmin(AuditedAdmin):
    """Roles of users in labs."""

    list_display = ["user", "role", "lab", "team", "created_at"]
    list_filter = ["role", "lab"]
    autocomplete_fields = ["user", "team"]
    list_select_related = ["user", "lab", "team"]


@admin.register(models.AuditEvent)
class AuditEventAdmin(ReadOnlyAdmin):
    """The audit log of all labs."""

    list_display = ["at", "actor", "verb", "target", "lab"]
    list_filter = ["lab"]
    search_fields = ["verb", "target"]
    date_hierarchy = "at"
    list_select_related = ["actor", "lab"]
