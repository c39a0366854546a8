"""The page of judged formulas that a version of the visual ids affects."""

from __future__ import annotations

import polars as pl
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from arqlab.core.permissions import organized_lab_or_404
from arqlab.core.views.downloads import table_response
from assessment.qrels.forms import AffectedListForm
from assessment.qrels.selectors.rejudging import affected_judgments
from collection.models import VisualMap
from collection.selectors.collections import collection_of
from collection.selectors.visual_maps import formula_latex


@require_safe
def affected_judgment_list(request: HttpRequest, lab: str, version: int) -> HttpResponse:
    """Show the judgments whose formulas a version of the visual ids merged or split."""
    found = organized_lab_or_404(request.user, lab)
    versions = VisualMap.objects.select_related("collection")
    shown = get_object_or_404(versions, collection=collection_of(found), version=version)
    rows = affected_judgments(found, shown)
    if request.GET.get("format") == "tsv":
        return table_response(rows, f"{found.slug}-visual-ids-{version}-judged.tsv")
    rows = rows.with_columns(
        latex=formula_latex(shown, rows["visual_id_after"]),
        ids_after=pl.col("visual_id_after").str.split(", "),
        version=pl.format("{}, {}", "task", "qrels"),
    )
    listing = AffectedListForm(request.GET, rows)
    page, part = listing.page_of_frame(rows)
    context = {
        "lab": found,
        "version": shown,
        "count": rows.height,
        "listing": listing,
        "page": page,
        "rows": part.to_dicts(),
    }
    return render(request, "assessment/affected_judgment_list.html", context)
