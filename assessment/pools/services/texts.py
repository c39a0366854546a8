"""The texts of pool items."""

from __future__ import annotations

from arqkit.texts.html.plain_text import answer_html
from assessment.models import PoolItem
from collection.models import Post


def body_of(item: PoolItem, post: Post | None) -> str:
    """Return the clean HTML of a post or a generated answer, or an empty text if it is missing.

    A generated answer is plain text with LaTeX. It is set in paragraphs as a post is, so that its
    look does not reveal it.
    """
    if post or not item.text:
        return post.safe_body if post else ""
    return answer_html(item.text, prefix=f"w{item.pk}")
