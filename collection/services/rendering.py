"""Rendering posts: sanitized and typeset when they are looked at."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from django.utils.safestring import SafeString

from arqlab.core.posthtml import render_post, render_title
from collection.models import Post


class RenderedPost(NamedTuple):
    """A post with its HTML for a page."""

    post_id: str
    kind: str
    tags: list[str]
    title_html: SafeString
    body_html: SafeString


def render_posts(posts: Iterable[Post]) -> list[RenderedPost]:
    """Give the posts with their pages' HTML."""
    return [
        RenderedPost(post.post_id, post.kind, post.tags, render_title(post.title), render_post(post.body))
        for post in posts
    ]
