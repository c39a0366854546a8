"""Plain text with LaTeX between dollar signs as clean HTML that keeps its lines and paragraphs."""

import re
from html import escape

from arqlab.texts.html.sanitizer import clean_post

# Matches a formula, whose line ends are kept, or the end of a line.
_LINES = re.compile(r'(<span class="math-container"[^>]*>[^<]*</span>)|\n\s*')
_BREAKS = ("<br>", "</p><p>")


def plain_html(text: str, *, prefix: str) -> str:
    """Return plain text with LaTeX as clean HTML; its formulas become `prefix.n`."""
    clean = clean_post(escape(text.replace("\r", "").strip()), prefix=prefix).html
    broken = _LINES.sub(lambda found: found[1] or _BREAKS[found[0].count("\n") > 1], clean)
    return f"<p>{broken}</p>"
