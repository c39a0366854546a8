"""The pages of a task's qrels: the draft, the frozen versions and their contents."""

from __future__ import annotations

from typing import Any

import polars as pl
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from arqkit.formats.qrels.read import write_qrels
from arqkit.judgments.qrels import Level
from arqlab.core.models import Task
from arqlab.core.permissions import organized_task_or_404, signed_in
from arqlab.core.views.downloads import exact_response
from assessment.models import QrelSet
from assessment.qrels.selectors.drafts import Draft, draft_of, levels_of, mixed_items
from assessment.qrels.selectors.joining import join_warnings
from assessment.qrels.selectors.versions import (
    qrel_versions,
    qrels_frame,
    version_topics,
)
from assessment.qrels.services.versions import choose_current_qrels
from assessment.qrels.views.labels import label_chart, label_shares, topic_lines


@require_safe
def qrels_list(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Show the draft and the versions of the qrels."""
    found = organized_task_or_404(request.user, lab, task)
    context = _draft_context(draft_of(found)) | {"versions": qrel_versions(found)}
    return render(
        request, "assessment/qrels_list.html", {"task": found, "lab": found.lab, **context}
    )


@require_safe
def qrels_draft(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Return the draft as a file, by instance or with `level=visual` by formula.

    `complete` includes the labels that are not judgments.
    """
    found = organized_task_or_404(request.user, lab, task)
    wanted = request.GET.get("level", Level.INSTANCES)
    if wanted not in levels_of(found):
        raise Http404
    frame = draft_of(found).qrels(Level(wanted), complete="complete" in request.GET)
    return _file(frame, found, "draft" if wanted == Level.INSTANCES else f"draft-{wanted}")


@require_safe
def qrels_detail(request: HttpRequest, lab: str, task: str, version: int) -> HttpResponse:
    """Show a version: its facts, labels per topic and dropped topics.

    With `format=tsv`, return its file.
    """
    found = organized_task_or_404(request.user, lab, task)
    shown = get_object_or_404(qrel_versions(found), version=version)
    if request.GET.get("format") == "tsv":
        return _file(qrels_frame(shown), found, shown.name)
    topics, labels = version_topics(shown), shown.label_scale
    context = {
        "shares": label_shares(topics, labels),
        "lines": topic_lines(topics, labels),
        "chart": label_chart(((topic.topic, topic.labels) for topic in topics), labels),
        "labels": labels,
        "warnings": join_warnings(shown),
    }
    return render(
        request,
        "assessment/qrels_detail.html",
        {"task": found, "lab": found.lab, "shown": shown, **context},
    )


@require_POST
def qrels_current(request: HttpRequest, lab: str, task: str, version: int) -> HttpResponse:
    """Make a version the current one."""
    found = organized_task_or_404(request.user, lab, task)
    chosen = get_object_or_404(
        QrelSet.objects.select_related("task__lab"), task=found, version=version
    )
    choose_current_qrels(qrel_set=chosen, by=signed_in(request))
    messages.success(
        request, f"{chosen.name} is now the current version. Leaderboards use it by default."
    )
    return redirect("assessment:qrels-list", lab=lab, task=task)


def _draft_context(draft: Draft) -> dict[str, Any]:
    labels = draft.scale
    return {
        "draft": draft,
        "total": sum(topic.total for topic in draft.topics),
        "mixed": mixed_items(draft.task),
        "labelled": sum(topic.labelled for topic in draft.topics),
        "labels": labels,
        "shares": label_shares(draft.topics, labels),
        "lines": topic_lines(draft.topics, labels),
        "chart": label_chart(((topic.topic, topic.labels) for topic in draft.topics), labels),
        "levels": levels_of(draft.task),
    }


def _file(frame: pl.DataFrame, task: Task, name: str) -> HttpResponse:
    return exact_response(write_qrels(frame), f"qrels-{task.lab.slug}-{task.slug}-{name}.tsv")
