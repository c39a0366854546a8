"""Plain text with LaTeX between dollar signs as clean HTML that keeps its lines and paragraphs."""

import re
from html import escape

from arqkit.texts.html.sanitizer import clean_post

# Each matches a formula, whose spaces are kept, or a gap in the text.
_FORMULA = r'(<span class="math-container"[^>]*>[^<]*</span>)'
_LINES = re.compile(rf"{_FORMULA}|\n\s*")
_GAPS = re.compile(rf"{_FORMULA}|\s*\n\s*|[ \t]{{2,}}")
_BREAKS = ("<br>", "</p><p>")


def plain_html(text: str, *, prefix: str) -> str:
    """Return plain text with LaTeX as clean HTML; its formulas become `prefix.n`."""
    clean = _clean(text, prefix)
    broken = _LINES.sub(lambda match: match[1] or _BREAKS[match[0].count("\n") > 1], clean)
    return f"<p>{broken}</p>"


def answer_html(text: str, *, prefix: str) -> str:
    """Return a generated answer as clean HTML in paragraphs, as the posts beside it have them.

    Several spaces end a paragraph as a line end does: a cell of a run file has no line ends, and
    systems write spaces for them.
    """
    broken = _GAPS.sub(lambda match: match[1] or "</p> <p>", _clean(text, prefix))
    return f"<p>{broken}</p>"


def _clean(text: str, prefix: str) -> str:
    return clean_post(escape(text.replace("\r", "").strip()), prefix=prefix).html
