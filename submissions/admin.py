"""Read-only administration of runs and uploads. Only services change them."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from arqlab.core.admin import ReadOnlyAdmin
from submissions.models import Run, RunProblem, Upload


class ProblemInline(admin.TabularInline):
    """The problems of a run."""

    model = RunProblem
    fields = ("kind", "severity", "count", "message")
    readonly_fields = fields
    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False: only validation adds problems."""
        return False


@admin.register(Run)
class RunAdmin(ReadOnlyAdmin):
    """Runs, newest first."""

    list_display = (
        "tag",
        "identifier",
        "team",
        "task",
        "status",
        "is_primary",
        "is_baseline",
        "check_only",
        "submitted_at",
    )
    list_filter = ("status", "is_baseline", "check_only", "task__lab")
    list_select_related = ("team", "task__lab")
    search_fields = ("tag", "identifier", "team__name", "upload__name")
    inlines = (ProblemInline,)


@admin.register(Upload)
class UploadAdmin(ReadOnlyAdmin):
    """Uploaded files."""

    list_display = ("name", "size", "sha256", "uploaded_by", "uploaded_at")
    list_select_related = ("uploaded_by",)
    search_fields = ("name", "sha256")
