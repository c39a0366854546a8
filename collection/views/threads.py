"""The pages of a collection."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from arqlab.core.permissions import lab_or_404
from collection.models import Post
from collection.selectors import collection_of, thread_of
from collection.services import render_posts


@require_GET
def post_detail(request: HttpRequest, lab: str, post_id: str) -> HttpResponse:
    """Show the thread of a post: the question with its answers."""
    found = lab_or_404(request.user, lab)
    collection = collection_of(found)
    posts = render_posts(thread_of(collection, post_id)) if collection else []
    if not posts:
        raise Http404
    question = next((post for post in posts if post.kind == Post.Kind.QUESTION), None)
    answers = [post for post in posts if post.kind == Post.Kind.ANSWER]
    context = {"lab": found, "post_id": post_id, "question": question, "answers": answers, "collection": collection}
    return render(request, "collection/post_detail.html", context)
