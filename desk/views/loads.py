"""The pages that load labs, topics, qrels, judgments and collections, and the pages of loads."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from arqlab.core import permissions
from arqlab.core.errors import UserError
from arqlab.core.models import Lab, Task
from desk.forms.choosing import CandidatesForm
from desk.forms.loads import (
    CollectionFilesForm,
    JudgmentsForm,
    LabFilesForm,
    LoadForm,
    QrelsForm,
    TopicsForm,
)
from desk.models import Load
from desk.permissions import load_or_404
from desk.services.loads import OVER, repeat_load, start_load
from desk.tasks import run_after_commit

A_PAGE = 100
FORMS: dict[str, type[LoadForm]] = {
    Load.Kind.LAB: LabFilesForm,
    Load.Kind.TOPICS: TopicsForm,
    Load.Kind.QRELS: QrelsForm,
    Load.Kind.JUDGMENTS: JudgmentsForm,
    Load.Kind.COLLECTION: CollectionFilesForm,
    Load.Kind.VISUAL_IDS: LoadForm,
    Load.Kind.CANDIDATES: CandidatesForm,
}


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def lab_load(request: HttpRequest) -> HttpResponse:
    """Load a lab from a lab.toml and its files, or from an archive of its folder."""
    permissions.require_lab_creator(request)
    return _form_page(request, Load.Kind.LAB, None)


@require_http_methods(["GET", "HEAD", "POST"])
def task_load(request: HttpRequest, lab: str, task: str, kind: str) -> HttpResponse:
    """Load topics, qrels or judgments of a task."""
    return _form_page(request, kind, permissions.organized_task_or_404(request.user, lab, task))


@require_http_methods(["GET", "HEAD", "POST"])
def collection_load(request: HttpRequest, lab: str) -> HttpResponse:
    """Load files of a data dump or of formula indexes into the lab's collection."""
    found = permissions.organized_lab_or_404(request.user, lab)
    return _form_page(request, Load.Kind.COLLECTION, found)


@require_http_methods(["GET", "HEAD", "POST"])
def candidates_load(request: HttpRequest, lab: str) -> HttpResponse:
    """List the topic candidates of the lab's collection."""
    found = permissions.organized_lab_or_404(request.user, lab)
    return _form_page(request, Load.Kind.CANDIDATES, found)


@require_POST
def visual_ids_make(request: HttpRequest, lab: str) -> HttpResponse:
    """Make the next version of the visual ids of the lab's collection."""
    found = permissions.organized_lab_or_404(request.user, lab)
    return redirect(_started(request, Load.Kind.VISUAL_IDS, found, LoadForm({}, place=found)))


@require_safe
def load_list(request: HttpRequest, lab: str) -> HttpResponse:
    """Show the loads of a lab, newest first."""
    found = permissions.organized_lab_or_404(request.user, lab)
    pages = Paginator(Load.objects.filter(lab=found).select_related("task", "by"), A_PAGE)
    context = {"lab": found, "page": pages.get_page(request.GET.get("page"))}
    return render(request, "desk/load_list.html", context)


@require_safe
def load_detail(request: HttpRequest, load: int) -> HttpResponse:
    """Show a load: its state, progress and report, and the form to repeat it."""
    return render(request, "desk/load_detail.html", _context(request, load))


@require_safe
def load_status(request: HttpRequest, load: int) -> HttpResponse:
    """Return the part of the page of a load that changes, which a running load polls."""
    context = _context(request, load)
    if request.GET.get("seen") == context["seen"]:
        return HttpResponse(status=204)  # nothing is new: htmx leaves the page as it is
    return render(request, "desk/load_status.html", context)


@require_POST
def load_repeat(request: HttpRequest, load: int) -> HttpResponse:
    """Repeat a load that loaded nothing, confirmed, or with more or corrected files."""
    found = load_or_404(request.user, load)
    form = FORMS[found.kind](request.POST, request.FILES, place=_place(found), again=True)
    if not form.is_valid():
        return _refused(request, found.kind, _place(found), form)
    try:
        repeat_load(
            load=found,
            uploads=form.uploads,
            replaced=form.single,
            options=form.options,
            at=timezone.now(),
            by=permissions.signed_in(request),
        )
    except UserError as error:
        messages.error(request, error.message)
    else:
        run_after_commit(found)
    return _sent_to(request, reverse("desk:load-detail", args=[load]))


def _form_page(request: HttpRequest, kind: str, place: Lab | Task | None) -> HttpResponse:
    if request.method != "POST":
        return _page(request, kind, place, FORMS[kind](place=place))
    form = FORMS[kind](request.POST, request.FILES, place=place)
    if not form.is_valid():
        return _refused(request, kind, place, form)
    return _sent_to(request, _started(request, kind, place, form))


def _started(request: HttpRequest, kind: str, place: Lab | Task | None, form: LoadForm) -> str:
    """Start a load and return the address of its page."""
    has_fields = form.is_valid()
    load = start_load(
        kind=kind,
        place=place,
        uploads=form.uploads if has_fields else {},
        options=form.options if has_fields else {},
        at=timezone.now(),
        by=permissions.signed_in(request),
    )
    run_after_commit(load)
    return load.get_absolute_url()


def _page(
    request: HttpRequest, kind: str, place: Lab | Task | None, form: LoadForm, status: int = 200
) -> HttpResponse:
    task = place if isinstance(place, Task) else None
    context = {
        "form": form,
        "kind": kind,
        "task": task,
        "lab": place.lab if isinstance(place, Task) else place,
        "what": Load.Kind(kind).label,
        "earlier": _loads_without_lab(request) if kind == Load.Kind.LAB else [],
    }
    return render(request, "desk/load_form.html", context, status=status)


def _loads_without_lab(request: HttpRequest) -> QuerySet[Load]:
    """Return the user's loads that made no lab, newest first; no page of a lab lists them."""
    by = permissions.signed_in(request)
    return Load.objects.filter(kind=Load.Kind.LAB, lab=None, by=by)[:A_PAGE]


def _refused(
    request: HttpRequest, kind: str, place: Lab | Task | None, form: LoadForm
) -> HttpResponse:
    if _wants_json(request):
        errors = [str(error) for found in form.errors.values() for error in found]
        return JsonResponse({"errors": errors}, status=422)
    return _page(request, kind, place, form, status=422)


def _sent_to(request: HttpRequest, location: str) -> HttpResponse:
    return JsonResponse({"location": location}) if _wants_json(request) else redirect(location)


def _wants_json(request: HttpRequest) -> bool:
    return request.headers.get("Accept", "").startswith("application/json")


def _place(load: Load) -> Lab | Task | None:
    return load.task or load.lab


def _context(request: HttpRequest, load_id: int) -> dict[str, Any]:
    load = load_or_404(request.user, load_id)
    pages = Paginator(load.problems.all(), A_PAGE)
    again = load.state in OVER
    return {
        "load": load,
        "lab": load.lab,
        "task": load.task,
        "page": pages.get_page(request.GET.get("page")),
        "form": FORMS[load.kind](
            place=_place(load),
            again=True,
            initial={**load.options, "confirmed": load.changes.get("digest", "")},
        )
        if again
        else None,
        "seen": f"{load.state}-{load.done}-{load.attempts}",
    }
