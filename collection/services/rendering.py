"""Rendering posts: sanitized and typeset when they are first looked at, then kept."""

from __future__ import annotations

from collections.abc import Iterable

from arqlab.core.posthtml import render_post, render_title
from collection.models import Post


def render_posts(posts: Iterable[Post]) -> list[Post]:
    """Give the posts with their pages' HTML, rendered and kept where they were not yet."""
    rendered = list(posts)
    fresh = [post for post in rendered if not post.body_html and not post.title_html]
    for post in fresh:
        post.title_html, post.body_html = render_title(post.title), render_post(post.body)
    Post.objects.bulk_update(fresh, ["title_html", "body_html"])
    return rendered
