"""Lists of judgments for organizers: by item, by guidelines, late, and affected by visual ids."""

from __future__ import annotations

import polars as pl
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone

from arqlab.core.models import Lab, Task
from arqlab.core.oddities import counted
from arqlab.core.permissions import organized_lab_or_404, organized_task_or_404, signed_in
from arqlab.web.downloads import table_response
from arqlab.web.pages import LAB, Pages
from assessment.guidelines.selectors.versions import labels_of
from assessment.judging.forms import GuidelineJudgmentListForm, LateDecisionForm, LateLabelListForm
from assessment.judging.selectors.related import judgments_of_item, pooled_items
from assessment.judging.services.judged_list import judged_list
from assessment.judging.services.judgments import return_for_judging
from assessment.judging.services.late_labels import decide_late_labels
from assessment.pools.services.texts import thread_url
from assessment.qrels.forms import AffectedListForm
from assessment.qrels.selectors.drafts import task_scale
from assessment.qrels.selectors.frames import late_labels, with_labels_that_count
from assessment.qrels.selectors.rejudging import affected_judgments
from collection.models import VisualMap
from collection.selectors.collections import collection_of
from collection.selectors.threads import posts_of
from collection.selectors.visual_maps import formula_latex

pages = Pages(LAB, organized_task_or_404, section="judging")


@pages.read(
    "visual-ids/<int:version>/judged/",
    "affected-judgment-list",
    access=organized_lab_or_404,
    section="collection",
)
def affected_judgment_list(request: HttpRequest, lab: Lab, version: int) -> HttpResponse:
    """Show the judgments whose formulas a version of the visual ids merged or split."""
    versions = VisualMap.objects.select_related("collection")
    visual_map = get_object_or_404(versions, collection=collection_of(lab), version=version)
    rows = affected_judgments(lab, visual_map)
    if request.GET.get("format") == "tsv":
        return table_response(rows, f"{lab.slug}-visual-ids-{version}-judged.tsv")
    rows = rows.with_columns(
        latex=formula_latex(visual_map, rows["visual_id_after"]),
        ids_after=pl.col("visual_id_after").str.split(", "),
        version=pl.format("{}, {}", "task", "qrels"),
    )
    listing = AffectedListForm(request.GET, rows)
    page, part = listing.page_of_frame(rows)
    context = {
        "lab": lab,
        "version": visual_map,
        "count": rows.height,
        "listing": listing,
        "page": page,
        "rows": part.to_dicts(),
    }
    return render(request, "assessment/affected_judgment_list.html", context)


@pages.form("tasks/<slug:task>/late-labels/", "late-label-list")
def late_label_list(request: HttpRequest, task: Task) -> HttpResponse:
    """List the late labels of a task, and keep or exclude the selected ones."""
    rows = late_labels(task)
    form = LateDecisionForm(request.POST if request.method == "POST" else None, rows=rows)
    if request.method == "POST" and form.is_valid():
        _decide(request, task, form)
        return redirect(request.get_full_path())
    listing = LateLabelListForm(request.GET, rows=rows)
    page = listing.page_of(with_labels_that_count(rows))
    context = {"lab": task.lab, "task": task, "form": form, "listing": listing, "page": page}
    status = 422 if form.errors else 200
    return render(request, "assessment/late_label_list.html", context, status=status)


def _decide(request: HttpRequest, task: Task, form: LateDecisionForm) -> None:
    given, by = form.cleaned_data, signed_in(request)
    decided = decide_late_labels(task=task, **given, at=timezone.now(), by=by)
    if decided.labels:
        messages.success(request, f"{counted(decided.labels, 'label')} {given['decision']}.")
    if decided.left:
        messages.error(
            request,
            f"{counted(decided.left, 'label')} left undecided: the pool is closed, or a label of "
            "another assessor counts. Exclude them, or return the items to their topics first.",
        )


@pages.read("tasks/<slug:task>/topics/<str:query_id>/judgments/<path:doc_id>/", "item-judgments")
def item_judgments(request: HttpRequest, task: Task, query_id: str, doc_id: str) -> HttpResponse:
    """Show the judgments of an item with their comments and history, for organizers."""
    topic = get_object_or_404(task.topics, query_id=query_id)
    if not pooled_items(task, query_id, doc_id).exists():
        raise Http404
    judgments = list(judgments_of_item(task, query_id, doc_id))
    held = posts_of(task.lab, {judgment.instance.post_id for judgment in judgments})
    rows = []
    for judgment in judgments:
        instance, post_id = judgment.instance, judgment.instance.post_id
        address = thread_url(instance.item, instance.doc_id, post_id, task.lab.slug)
        rows.append((judgment, address if post_id in held else ""))
    context = {
        "lab": task.lab,
        "task": task,
        "topic": topic,
        "doc_id": doc_id,
        "rows": rows,
        "people": len({judgment.assessor_id for judgment in judgments if judgment.assessor_id}),
    }
    return render(request, "assessment/item_judgments.html", context)


@pages.form("tasks/<slug:task>/guidelines/judgments/", "guideline-judgment-list")
def guideline_judgment_list(request: HttpRequest, task: Task) -> HttpResponse:
    """List the current labels of a task with the versions that the assessors followed.

    `before` keeps those given before a version. A POST request returns the items of `judgments` to
    be judged again.
    """
    if request.method == "POST":
        _return(request, task)
        return redirect(request.get_full_path())
    related = ("instance__item__topic", "assessor", "guideline")
    rows = labels_of(task).select_related(*related).defer("guideline__text")
    listing = GuidelineJudgmentListForm(request.GET, task=task, rows=rows)
    page = listing.page_of(rows)
    context = {
        "task": task,
        "lab": task.lab,
        "listing": listing,
        "page": page,
        "judgments": judged_list(page, lab=task.lab, scale=task_scale(task)),
    }
    return render(request, "assessment/guideline_judgment_list.html", context)


def _return(request: HttpRequest, task: Task) -> None:
    sent = request.POST.getlist("judgments")
    chosen = {int(key) for key in sent if key.isascii() and key.isdigit() and len(key) < 19}
    if not chosen:
        messages.error(request, "Select the labels to judge again.")
        return
    count, left = return_for_judging(task=task, judgments=chosen, by=signed_in(request))
    if count:
        words = "1 label no longer counts" if count == 1 else f"{count} labels no longer count"
        messages.success(request, f"{words}. The items are back in their topics.")
    if left:
        messages.error(
            request,
            f"{left} label{'s' * (left != 1)} not returned: the pool is closed, the label has an "
            "open ticket or no longer counts.",
        )
