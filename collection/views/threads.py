"""The thread pages of posts and topics."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.cache import add_never_cache_headers, patch_vary_headers
from django.views.decorators.http import require_safe

from arqlab.core.models import Lab
from arqlab.core.permissions import lab_or_404, may_look_up, may_see_thread, task_or_404
from arqlab.core.selectors import corrections_of
from collection.models import Collection
from collection.permissions import closed_threads
from collection.selectors.collections import collection_of
from collection.selectors.threads import Thread, find_thread
from collection.services.closed_threads import without_closed_threads
from collection.services.rendering import render_thread

READER = "X-Judging-User"  # the judging page's user, who may have signed out since


@require_safe
def post_detail(request: HttpRequest, lab: str, post_id: str) -> HttpResponse:
    """Show the thread of a post: the question with its answers and their comments.

    `formula=ID` highlights an instance, `comment=ID` expands the comments that contain it. Users
    who may search the collection can link formulas to their pages with `formulas=links`. Links are
    off by default because a thread would have hundreds of tab stops. The judging page gets the
    thread alone.
    """
    if _is_other_reader(request):
        return HttpResponse(status=401)
    found = lab_or_404(request.user, lab)
    collection = collection_of(found)
    thread = _visible_thread(request, found, collection, post_id) if collection else None
    if thread is None:
        raise Http404
    looks_up, has_formula_links = _formula_links(request, found)
    context = {
        "lab": found,
        "post_id": post_id,
        "asked_for": post_id,
        "collection": collection,
        "thread": render_thread(
            thread,
            lab=found,
            formula_id=request.GET.get("formula", ""),
            comment_id=request.GET.get("comment", ""),
            has_formula_links=has_formula_links,
        ),
        "may_look_up": looks_up,
        "formula_id": request.GET.get("formula", ""),
        "has_formula_links": has_formula_links,
        "thread_id": thread.thread_id,
    }
    return _page_or_panel(request, "collection/post_detail.html", context)


@require_safe
def topic_thread(request: HttpRequest, lab: str, task: str, query_id: str) -> HttpResponse:
    """Show the thread of a topic: its question with the original answers.

    If the collection lacks the thread, show the topic. Formulas are links as on post pages. The
    judging page gets the thread alone.
    """
    if _is_other_reader(request):
        return HttpResponse(status=401)
    found = task_or_404(request.user, lab, task)
    topic = get_object_or_404(found.topics, query_id=query_id)
    if not may_see_thread(request.user, topic):
        raise Http404
    collection, thread = collection_of(found.lab), None
    if collection and topic.thread_id:
        thread = _visible_thread(request, found.lab, collection, topic.thread_id)
    looks_up, has_links = _formula_links(request, found.lab)
    context = {
        "lab": found.lab,
        "task": found,
        "topic": topic,
        "asked_for": topic.thread_id,
        "collection": collection,
        "thread": render_thread(thread, lab=found.lab, topic=topic, has_formula_links=has_links)
        if thread
        else None,
        "may_look_up": looks_up,
        "has_formula_links": has_links,
    }
    return _page_or_panel(request, "collection/topic_thread.html", context)


def _is_other_reader(request: HttpRequest) -> bool:
    """Return whether a judging page asks whose user has signed out, or is not the one signed in."""
    return request.headers.get(READER, str(request.user.pk)) != str(request.user.pk)


def _page_or_panel(request: HttpRequest, page: str, context: dict[str, Any]) -> HttpResponse:
    """Render the page, or for the judging page only the thread, which no cache keeps.

    Offline trips store the page; its reader is named there, too.
    """
    is_panel = READER in request.headers
    response = render(request, "collection/_thread_panel.html" if is_panel else page, context)
    patch_vary_headers(response, [READER])
    response.headers[READER] = str(request.user.pk)
    if is_panel:
        add_never_cache_headers(response)
    return response


def _visible_thread(
    request: HttpRequest, lab: Lab, collection: Collection, post_id: str
) -> Thread | None:
    """Return the thread of a post without links to closed threads, or None for an unknown post.

    Raises 404 if the thread is closed.
    """
    thread = find_thread(collection, post_id, corrections_of(lab))
    closed = closed_threads(request.user, collection)
    if thread and thread.thread_id in closed:
        raise Http404
    return thread and without_closed_threads(thread, closed)


def _formula_links(request: HttpRequest, lab: Lab) -> tuple[bool, bool]:
    """Return whether the user may search the collection, and whether formulas are links."""
    looks_up = may_look_up(request.user, lab)
    return looks_up, looks_up and request.GET.get("formulas") == "links"
