"""The texts of pool items."""

from __future__ import annotations

import re
from html import escape

from arqlab.texts.html.sanitizer import clean_post
from assessment.models import PoolItem
from collection.models import Post

# Matches a formula of a generated answer, whose line ends are kept, or the end of a line.
_LINES = re.compile(r'(<span class="math-container"[^>]*>[^<]*</span>)|\n\s*')
_BREAKS = ("<br>", "</p><p>")


def body_of(item: PoolItem, post: Post | None) -> str:
    """Return the clean HTML of a post or a generated answer, or an empty text if it is missing.

    A generated answer is plain text with LaTeX. Its lines and paragraphs are kept, except inside
    formulas.
    """
    if post or not item.text:
        return post.safe_body if post else ""
    clean = clean_post(escape(item.text.replace("\r", "").strip()), prefix=f"w{item.pk}").html
    broken = _LINES.sub(lambda found: found[1] or _BREAKS[found[0].count(chr(10)) > 1], clean)
    return f"<p>{broken}</p>"
