"""The pages of a formula and of a version of the visual ids."""

from __future__ import annotations

from typing import Any, NamedTuple

import polars as pl
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.safestring import SafeString

from arqkit.texts.posts.snippets import joined, marked
from arqlab.core.models import Lab
from arqlab.core.permissions import looked_up_lab_or_404, organized_lab_or_404
from arqlab.web.downloads import table_response
from arqlab.web.pages import LAB, Pages
from collection.forms import ChangeListForm, OpinionListForm
from collection.models import Collection, Post, VisualMap
from collection.selectors.collections import collection_of
from collection.selectors.formulas import (
    Form,
    form_of,
    formulas_like,
    history_of,
    instances_of,
    latex_of,
    newest_forms,
    slt_of,
    thread_questions,
    visual_id_of,
)
from collection.selectors.visual_maps import (
    changed_formulas,
    map_before,
    map_table,
    opinion_rows,
)
from collection.services.lookup import ready_for_formulas, snippet_html

pages = Pages(LAB, looked_up_lab_or_404, section="search")

LISTS = {
    "changes": (ChangeListForm, changed_formulas),
    "opinion": (OpinionListForm, opinion_rows),
}


@pages.read(
    "collection/visual-ids/<int:version>/",
    "visual-map-detail",
    access=organized_lab_or_404,
    section="collection",
)
def visual_map_detail(request: HttpRequest, lab: Lab, version: int) -> HttpResponse:
    """Show the merges and splits of a visual id version, or the ids we would group differently."""
    visual_map = _version_or_404(lab, version)
    chosen = request.GET.get("list", "")
    if request.GET.get("format") == "tsv":
        return _file(visual_map, chosen)
    if chosen not in LISTS:
        chosen = "changes" if map_before(visual_map) else "opinion"
    form, rows_of = LISTS[chosen]
    rows = rows_of(visual_map)
    listing = form(request.GET, rows)
    page, part = listing.page_of_frame(rows)
    context = {
        "lab": lab,
        "collection": visual_map.collection,
        "version": visual_map,
        "versions": VisualMap.objects.filter(collection=visual_map.collection).order_by("-version"),
        "before": map_before(visual_map),
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


class ShownFormula(NamedTuple):
    """A formula as its page shows it. `form` is None if the id was replaced; see `history` then."""

    form: Form | None
    instances: pl.DataFrame
    threads: int
    posts: int
    latex: list[tuple[str, int]]
    history: list[dict[str, Any]]
    same: list[Form]
    similar: list[Form]
    slt: str


class FormulaOccurrence(NamedTuple):
    """An instance of a formula with its post."""

    formula_id: str
    post_id: str
    comment_id: str
    kind: str
    latex: str
    thread_id: str
    title: SafeString


def show_formula(
    *, collection: Collection, version: VisualMap, visual_id: str
) -> ShownFormula | None:
    """Return the formula with a visual id, or None if no version ever had the id."""
    form, history = form_of(version, visual_id), history_of(collection, visual_id)
    if form is None and not history:
        return None
    instances = instances_of(collection, version, [visual_id])
    same: list[Form] = []
    similar: list[Form] = []
    if form:
        looks = formulas_like(
            ready_for_formulas(version), latex=form.latex, layout=form.layout or None, limit=12
        )
        same = [other for other in looks.same if other.visual_id != visual_id]
        similar = looks.similar
    return ShownFormula(
        form=form,
        instances=instances,
        threads=instances["thread_id"].n_unique(),
        posts=instances["post_id"].n_unique(),
        latex=latex_of(instances),
        history=history,
        same=same,
        similar=similar,
        slt=slt_of(collection, form.first_formula_id) if form else "",
    )


def show_instances(*, collection: Collection, instances: pl.DataFrame) -> list[FormulaOccurrence]:
    """Return instances with the titles of their threads."""
    titles = thread_questions(collection, set(instances["thread_id"].drop_nulls()))
    html_titles = {thread: _title(post) for thread, post in titles.items()}
    columns = ("formula_id", "post_id", "comment_id", "type", "latex", "thread_id")
    rows = instances.with_columns(pl.col(pl.String).fill_null("")).select(columns).rows()
    return [
        FormulaOccurrence._make((*row, html_titles.get(row[-1], SafeString("")))) for row in rows
    ]


def _title(post: Post) -> SafeString:
    return snippet_html(joined(marked(post.safe_title, terms=())))


INSTANCES_A_PAGE = 50


@pages.read("formulas/by-id/<str:formula_id>/", "formula-by-id")
def formula_by_id(request: HttpRequest, lab: Lab, formula_id: str) -> HttpResponse:
    """Redirect from a formula instance to its formula."""
    _, version = _forms_or_404(lab)
    visual_id = visual_id_of(version, formula_id)
    if visual_id is None:
        raise Http404
    return redirect("collection:formula-detail", lab=lab.slug, visual_id=visual_id)


@pages.read("formulas/<path:visual_id>/", "formula-detail")
def formula_detail(request: HttpRequest, lab: Lab, visual_id: str) -> HttpResponse:
    """Show a visually distinct formula, or the history of a visual id that is no longer used."""
    collection, version = _forms_or_404(lab)
    formula = show_formula(collection=collection, version=version, visual_id=visual_id)
    if formula is None:
        raise Http404
    page = Paginator(range(formula.instances.height), INSTANCES_A_PAGE).get_page(
        request.GET.get("page")
    )
    rows = formula.instances.slice(max(page.start_index() - 1, 0), len(page.object_list))
    context = {
        "lab": lab,
        "collection": collection,
        "version": version,
        "visual_id": visual_id,
        "shown": formula,
        "page": page,
        "rows": show_instances(collection=collection, instances=rows),
    }
    return render(request, "collection/formula_detail.html", context)


def _forms_or_404(lab: Lab) -> tuple[Collection, VisualMap]:
    collection = collection_of(lab)
    version = newest_forms(collection) if collection else None
    if collection is None or version is None:
        raise Http404
    return collection, version
