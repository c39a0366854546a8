"""Saving the fields of a form, unless someone else changed them after the page was opened."""

from collections.abc import Callable
from typing import TypeVar

from django.core.exceptions import ObjectDoesNotExist
from django.db import transaction
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render

from arqlab.core.forms.versions import KEEP, VersionedForm
from arqlab.core.models import AuditEvent
from arqlab.core.views.answers import refused

F = TypeVar("F", bound=VersionedForm)
NOT_REPEATED = ("csrfmiddlewaretoken", "version")


def edited(
    request: HttpRequest,
    record: Model,
    make: Callable[[QueryDict | None], F],
    save: Callable[[F], HttpResponse],
    *,
    events: QuerySet[AuditEvent] | None = None,
) -> tuple[F, HttpResponse | None]:
    """Return the form of a page that edits a record, or the response if a POST is finished.

    `make` reads the stored values. For a POST, the record is locked first: if two people save at
    once, the second is asked. `save` stores a valid form and returns the response; a `UserError`
    becomes an error of the form. A form that would undo another change is shown again with both
    values to choose from; `events` are the audit events in which the change may be.
    """
    if request.method != "POST":
        return make(None), None
    with transaction.atomic():
        _lock(record)
        form = make(request.POST)
        if form.is_valid():
            with refused(form), transaction.atomic():
                return form, _stale(request, form, events) or save(form)
        return form, None


def _lock(record: Model) -> None:
    """Lock a record and read it again, or raise `Http404` if it was deleted."""
    # Not by its type: a request's user is a lazy object.
    records = record._meta.model._base_manager.select_for_update(no_key=True)
    try:
        record.refresh_from_db(from_queryset=records)
    except ObjectDoesNotExist as error:
        raise Http404 from error


def _stale(
    request: HttpRequest, form: VersionedForm, events: QuerySet[AuditEvent] | None
) -> HttpResponse | None:
    """Return the page with both values if the form would undo another change."""
    conflicts = form.conflicts
    if not conflicts:
        return None
    repeated = [
        (name, value)
        for name, values in request.POST.lists()
        if name not in NOT_REPEATED and not name.startswith(KEEP)
        for value in values
    ]
    context = {
        "conflicts": conflicts,
        "repeated": repeated,
        "version": form.stored_version,
        "event": events.select_related("actor").first() if events is not None else None,
    }
    return render(request, "core/stale_form.html", context, status=409)
