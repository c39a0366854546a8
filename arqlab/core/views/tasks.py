"""The pages of tasks and their topics."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from arqlab.core import permissions, selectors
from arqlab.core.forms.labs import TaskForm
from arqlab.core.services.labs import change_task
from arqlab.core.views.editing import edited


@require_http_methods(["GET", "HEAD", "POST"])
def task_edit(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Edit a task: its dates, limits, quota and measures."""
    found = permissions.organized_task_or_404(request.user, lab, task)
    by = permissions.signed_in(request)

    def save(form: TaskForm) -> HttpResponse:
        change_task(
            task=found,
            changes=form.changes,
            protocol=form.protocol,
            by=by,
            at=timezone.now(),
            confirmed=request.POST.get("confirm", ""),
        )
        messages.success(request, "Task saved.")
        return redirect("desk:task-detail", lab=lab, task=task)

    form, answer = edited(
        request,
        found,
        lambda data: TaskForm(data, task=found),
        save,
        events=found.lab.audit_events.filter(verb="task.change", target=found),
    )
    context = {"form": form, "task": found, "lab": found.lab}
    return answer or render(request, "core/task_edit.html", context)


@require_safe
def topic_list(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Show the topics of a task, filtered by words and topic information."""
    found = permissions.task_or_404(request.user, lab, task)
    words = request.GET.get("q", "").strip()
    chosen = {name: request.GET.get(name, "") for name in selectors.TOPIC_FILTERS}
    topics = list(found.topics.order_by("position").defer("body_html"))
    context = {
        "task": found,
        "lab": found.lab,
        "topics": selectors.search_topics(topics, words=words, info=chosen),
        "total": len(topics),
        "words": words,
        "choices": [
            (name, chosen[name], selectors.info_values(topics, name))
            for name in selectors.TOPIC_FILTERS
        ],
        "is_searched": bool(words or any(chosen.values())),
        "organizes": permissions.may_organize(request.user, found.lab),
    }
    return render(request, "core/topic_list.html", context)


@require_safe
def topic_detail(request: HttpRequest, lab: str, task: str, query_id: str) -> HttpResponse:
    """Show a topic with its information and links to the previous and next topic."""
    found = permissions.task_or_404(request.user, lab, task)
    topic = get_object_or_404(found.topics, query_id=query_id)
    before, after = selectors.neighbours(topic)
    facts, notes = selectors.public_info(topic)
    context = {
        "topic": topic,
        "task": found,
        "lab": found.lab,
        "state": found.state(timezone.now()),
        "place": found.topics.filter(position__lte=topic.position).count(),
        "total": found.topics.count(),
        "before": before,
        "after": after,
        "facts": facts,
        "has_thread": permissions.may_see_thread(request.user, topic),
    }
    if permissions.may_organize(request.user, found.lab):
        context["notes"] = notes
    return render(request, "core/topic_detail.html", context)
