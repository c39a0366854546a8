"""Addresses of Math Stack Exchange: the post or comment that a link leads to."""

import re
from typing import NamedTuple

SITE = "https://math.stackexchange.com"  # the host of relative links

# Meta, chat and other sites also number their posts from 1, so another host is another site.
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
    """The comment (or "") and the posts that an address names, most specific first."""

    comment_id: str
    post_ids: tuple[str, ...]


def post_address(address: str) -> PostAddress | None:
    """Return the post or comment of an address, or None for other sites and other pages."""
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
    if comment := _COMMENT.fullmatch(fragment):
        return comment[1], [comment[2]] if comment[2] else []
    post = _POST.fullmatch(fragment)
    return "", [post[1]] if post else []
