"""Addresses of the question and answer site that the collection was made of: which post or comment
they lead to.
"""

from __future__ import annotations

import re
from typing import NamedTuple

SITE = "https://math.stackexchange.com"  # where a path without a host leads

# Meta, chat and other sites count their posts from one too, so a host that differs is another site.
_SITE = re.compile(
    r"(?:(?:https?:)?//(?:www\.)?math\.stackexchange\.com(?::\d+)?(?=[/?#]|$))", re.IGNORECASE
)
_PARTS = re.compile(r"(?P<path>[^?#]*)(?:\?[^#]*)?(?:#(?P<fragment>.*))?", re.DOTALL)
_PATH = re.compile(
    r"/(?:questions/(?P<question>\d{1,18})(?:/[^/]*)??(?:/(?P<answer>\d{1,18}))?(?:/[^/]*)?"
    r"|q/(?P<q>\d{1,18})(?:/[^/]*)?|a/(?P<a>\d{1,18})(?:/[^/]*)?"
    r"|posts/(?P<post>\d{1,18})(?:/[a-z-]*)?|posts/comments/(?P<comment>\d{1,18}))/?",
    re.IGNORECASE | re.ASCII,
)
_COMMENT = re.compile(r"comment(\d{1,18})(?:_(\d{1,18}))?", re.ASCII)
_POST = re.compile(r"(?:answer-|post-)?(\d{1,18})", re.ASCII)


class PostAddress(NamedTuple):
    """What an address names: a comment (or an empty string) and posts, the most exact first."""

    comment_id: str
    post_ids: tuple[str, ...]


def post_address(address: str) -> PostAddress | None:
    """Return what an address names: None for other sites and for pages that are no post, such as
    those of tags or users.
    """
    address = address.strip()
    site = _SITE.match(address)
    if site is None and (address.startswith("//") or not address.startswith(("/", "#"))):
        return None
    parts = _PARTS.fullmatch(address, site.end() if site else 0)
    if parts is None:
        return None
    path = _PATH.fullmatch(parts["path"])
    if path is None and parts["path"]:
        return None
    named = path.groupdict() if path else {}
    comment, posts = _fragment(parts["fragment"] or "")
    posts += [
        named[name] or "" for name in ("answer", "a", "post", "question", "q") if named.get(name)
    ]
    comment = comment or named.get("comment") or ""
    return PostAddress(comment, tuple(dict.fromkeys(posts))) if comment or posts else None


def _fragment(fragment: str) -> tuple[str, list[str]]:
    """What stands after the #: a comment with its post, or a post."""
    if comment := _COMMENT.fullmatch(fragment):
        return comment[1], [comment[2]] if comment[2] else []
    post = _POST.fullmatch(fragment)
    return "", [post[1]] if post else []
