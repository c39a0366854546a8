"""The page of a formula: its LaTeX, instances, similar formulas and the history of its id."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from arqlab.core.models import Lab
from arqlab.core.permissions import looked_up_lab_or_404
from collection.models import Collection, VisualMap
from collection.selectors.collections import collection_of
from collection.selectors.formulas import newest_forms, visual_id_of
from collection.services.formula_page import show_formula, show_instances

INSTANCES_A_PAGE = 50


@require_safe
def formula_detail(request: HttpRequest, lab: str, visual_id: str) -> HttpResponse:
    """Show a visually distinct formula, or the history of a visual id that is no longer used."""
    found = looked_up_lab_or_404(request.user, lab)
    collection, version = _forms_or_404(found)
    shown = show_formula(collection=collection, version=version, visual_id=visual_id)
    if shown is None:
        raise Http404
    page = Paginator(range(shown.instances.height), INSTANCES_A_PAGE).get_page(
        request.GET.get("page")
    )
    rows = shown.instances.slice(max(page.start_index() - 1, 0), len(page.object_list))
    context = {
        "lab": found,
        "collection": collection,
        "version": version,
        "visual_id": visual_id,
        "shown": shown,
        "page": page,
        "rows": show_instances(collection=collection, instances=rows),
    }
    return render(request, "collection/formula_detail.html", context)


@require_safe
def formula_by_id(request: HttpRequest, lab: str, formula_id: str) -> HttpResponse:
    """Redirect from a formula instance to its formula."""
    found = looked_up_lab_or_404(request.user, lab)
    _, version = _forms_or_404(found)
    visual_id = visual_id_of(version, formula_id)
    if visual_id is None:
        raise Http404
    return redirect("collection:formula-detail", lab=found.slug, visual_id=visual_id)


def _forms_or_404(lab: Lab) -> tuple[Collection, VisualMap]:
    collection = collection_of(lab)
    version = newest_forms(collection) if collection else None
    if collection is None or version is None:
        raise Http404
    return collection, version
