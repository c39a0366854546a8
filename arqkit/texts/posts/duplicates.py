"""Posts with the same text: equal except for markup and white space."""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import blake2b
from html import unescape

_TAG = re.compile(r"<!--.*?-->|</?[a-zA-Z][^>]*>", re.DOTALL)


def text_key(html: str) -> bytes:
    """Return a digest of the text of a post, equal for posts with the same text; b"" if empty.

    Formulas count with their LaTeX, whatever their ids, and case matters: x is not X. Posts with
    images and no text are empty: their images may differ.
    """
    text = "".join(unescape(_TAG.sub(" ", html)).split())
    return blake2b(text.encode(), digest_size=12).digest() if text else b""


def duplicate_groups(posts: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Return the groups of ids with the same text, from ids and texts, in the order given."""
    groups: dict[bytes, list[str]] = {}
    for name, html in posts:
        if key := text_key(html):
            groups.setdefault(key, []).append(name)
    return [group for group in groups.values() if len(group) > 1]
