"""The page of a visual id version, and its downloads."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from arqlab.core.models import Lab
from arqlab.core.permissions import organized_lab_or_404
from arqlab.core.views.downloads import table_response
from collection.forms import ChangeListForm, OpinionListForm
from collection.models import VisualMap
from collection.selectors.collections import collection_of
from collection.selectors.visual_maps import (
    changed_formulas,
    map_before,
    map_table,
    opinion_rows,
)

LISTS = {
    "changes": (ChangeListForm, changed_formulas),
    "opinion": (OpinionListForm, opinion_rows),
}


@require_safe
def visual_map_detail(request: HttpRequest, lab: str, version: int) -> HttpResponse:
    """Show the merges and splits of a visual id version, or the ids we would group differently."""
    found = organized_lab_or_404(request.user, lab)
    shown = _version_or_404(found, version)
    chosen = request.GET.get("list", "")
    if request.GET.get("format") == "tsv":
        return _file(shown, chosen)
    if chosen not in LISTS:
        chosen = "changes" if map_before(shown) else "opinion"
    form, rows_of = LISTS[chosen]
    rows = rows_of(shown)
    listing = form(request.GET, rows)
    page, part = listing.page_of_frame(rows)
    context = {
        "lab": found,
        "collection": shown.collection,
        "version": shown,
        "versions": VisualMap.objects.filter(collection=shown.collection).order_by("-version"),
        "before": map_before(shown),
        "chosen": chosen,
        "listing": listing,
        "page": page,
        "rows": part.to_dicts(),
    }
    return render(request, "collection/visual_map_detail.html", context)


def _version_or_404(lab: Lab, version: int) -> VisualMap:
    return get_object_or_404(
        VisualMap.objects.select_related("collection"),
        collection=collection_of(lab),
        version=version,
    )


def _file(version: VisualMap, chosen: str) -> HttpResponse:
    if chosen not in LISTS:
        raise Http404
    name = f"{version.collection.slug}-visual-ids-{version.version}-{chosen}.tsv"
    return table_response(map_table(version, chosen), name)
