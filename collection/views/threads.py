"""The threads of posts and topics."""

from collections.abc import Set
from copy import copy
from dataclasses import replace
from typing import TypedDict

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.cache import patch_vary_headers

from arqkit.texts.html.comments import with_markup
from arqkit.texts.html.rendering import addresses_of, read_text, without_links
from arqkit.texts.html.sanitizer import RULES
from arqlab.core.models import Lab
from arqlab.labs.permissions import lab_or_404, may_look_up, may_see_thread, task_or_404
from arqlab.labs.selectors import corrections_of
from arqlab.web import LAB, Pages
from collection.models import Collection, Post
from collection.permissions import closed_threads
from collection.selectors.collections import collection_of
from collection.selectors.threads import LinkedQuestion, Links, Thread, find_thread
from collection.services.addresses import posts_at
from collection.services.rendering import render_thread

pages = Pages(LAB, section="search")

READER = "X-Judging-User"  # the judging page's user, who may have signed out since


def without_closed_threads(thread: Thread, closed: Set[str]) -> Thread:
    """Return a thread without links to closed threads (ids), and without comments with such links.

    Takes at most two queries, and none if no thread is closed.
    """
    if not closed:
        return thread
    comments = {
        comment: addresses_of([read_text(with_markup(comment.safe_text))])
        for group in thread.comments.values()
        for comment in group
    }
    posts = {post: addresses_of([read_text(post.safe_body)]) for post in thread.posts}
    addresses = {address for group in (*comments.values(), *posts.values()) for address in group}
    hidden = _addresses_into(addresses, thread.collection, closed)
    cleaned = {post.pk: _without_links(post, hidden) for post in posts if hidden & {*posts[post]}}
    return replace(
        thread,
        question=cleaned.get(thread.question.pk, thread.question) if thread.question else None,
        answers=tuple(cleaned.get(answer.pk, answer) for answer in thread.answers),
        comments={
            post_id: tuple(comment for comment in group if hidden.isdisjoint(comments[comment]))
            for post_id, group in thread.comments.items()
        },
        links=_without_questions(thread.links, closed),
    )


def _addresses_into(addresses: Set[str], collection: Collection, closed: Set[str]) -> set[str]:
    """Return the addresses of posts and comments in closed threads."""
    named, under, posts = posts_at(addresses, collection)
    threads = {post_id: post.thread_id for post_id, post in posts.items()}
    return {
        address
        for address, target in named.items()
        for post_id in (*target.post_ids, under.get(target.comment_id, ""))
        if threads.get(post_id, post_id) in closed
    }


def _without_links(post: Post, hidden: Set[str]) -> Post:
    post_copy = copy(post)
    post_copy.clean_title = post.safe_title
    post_copy.clean_body = without_links(post.safe_body, hidden)
    post_copy.rules, post_copy.corrected_body = RULES, None
    return post_copy


def _without_questions(links: Links, closed: Set[str]) -> Links:
    def kept(group: tuple[LinkedQuestion, ...]) -> tuple[LinkedQuestion, ...]:
        return tuple(
            link
            for link in group
            if (link.post.thread_id if link.post else link.post_id) not in closed
        )

    return Links(*map(kept, links))


class Marked(TypedDict):
    """What the address of a post may mark: `formula=ID` and `comment=ID`."""

    formula_id: str
    comment_id: str


@pages.read("posts/<path:post_id>/", "post-detail")
def post_detail(request: HttpRequest, lab: str, post_id: str) -> HttpResponse:
    """Show the thread of a post: the question with its answers and their comments.

    `formula=ID` highlights an instance, `comment=ID` expands the comments that contain it. Users
    who may search the collection can link formulas to their pages with `formulas=links`. Links are
    off by default because a thread would have hundreds of tab stops. The judging page gets the
    thread alone.
    """
    if _is_other_reader(request):
        return HttpResponse(status=401)
    visible_lab = lab_or_404(request.user, lab)
    collection = collection_of(visible_lab)
    thread = _visible_thread(request, visible_lab, collection, post_id) if collection else None
    if thread is None:
        raise Http404
    looks_up, has_links = _formula_links(request, visible_lab)
    marked = _marked(request)
    context = {
        "lab": visible_lab,
        "post_id": post_id,
        "asked_for": post_id,
        "collection": collection,
        "thread": render_thread(thread, lab=visible_lab, has_formula_links=has_links, **marked),
        "may_look_up": looks_up,
        "formula_id": marked["formula_id"],
        "has_formula_links": has_links,
        "thread_id": thread.thread_id,
    }
    return _page_or_panel(request, "collection/post_detail.html", context)


@pages.read(
    "tasks/<slug:task>/topics/<str:query_id>/thread/",
    "topic-thread",
    shows="topic-thread",
    section="topics",
)
def topic_thread(request: HttpRequest, lab: str, task: str, query_id: str) -> HttpResponse:
    """Show the thread of a topic: its question with the original answers.

    If the collection lacks the thread, show the topic. Formulas are links as on post pages. The
    judging page gets the thread alone.
    """
    if _is_other_reader(request):
        return HttpResponse(status=401)
    topic_task = task_or_404(request.user, lab, task)
    topic = get_object_or_404(topic_task.topics, query_id=query_id)
    if not may_see_thread(request.user, topic):
        raise Http404
    collection, thread = collection_of(topic_task.lab), None
    if collection and topic.thread_id:
        thread = _visible_thread(request, topic_task.lab, collection, topic.thread_id)
    looks_up, has_links = _formula_links(request, topic_task.lab)
    context = {
        "lab": topic_task.lab,
        "task": topic_task,
        "topic": topic,
        "asked_for": topic.thread_id,
        "collection": collection,
        "thread": thread
        and render_thread(thread, lab=topic_task.lab, topic=topic, has_formula_links=has_links),
        "may_look_up": looks_up,
        "has_formula_links": has_links,
    }
    return _page_or_panel(request, "collection/topic_thread.html", context)


def _marked(request: HttpRequest) -> Marked:
    formula_id, comment_id = (request.GET.get(name, "") for name in ("formula", "comment"))
    return {"formula_id": formula_id, "comment_id": comment_id}


def _is_other_reader(request: HttpRequest) -> bool:
    """Return whether a judging page asks whose user has signed out, or is not the one signed in."""
    return request.headers.get(READER, str(request.user.pk)) != str(request.user.pk)


def _page_or_panel(request: HttpRequest, page: str, context: dict[str, object]) -> HttpResponse:
    """Render the page, or the thread alone for judging, with its reader for offline trips."""
    is_panel = READER in request.headers
    response = render(request, "collection/_thread_panel.html" if is_panel else page, context)
    patch_vary_headers(response, [READER])
    response.headers[READER] = str(request.user.pk)
    return response


def _visible_thread(
    request: HttpRequest, lab: Lab, collection: Collection, post_id: str
) -> Thread | None:
    """Return a thread without links to closed ones, or None; raise 404 for a closed thread."""
    thread = find_thread(collection, post_id, corrections_of(lab))
    closed = closed_threads(request.user, collection)
    if thread and thread.thread_id in closed:
        raise Http404
    return thread and without_closed_threads(thread, closed)


def _formula_links(request: HttpRequest, lab: Lab) -> tuple[bool, bool]:
    """Return whether the user may search the collection, and whether formulas are links."""
    looks_up = may_look_up(request.user, lab)
    return looks_up, looks_up and request.GET.get("formulas") == "links"
