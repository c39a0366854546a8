"""HTML of our own pages sent back by a browser: typeset formulas become LaTeX again."""

from __future__ import annotations

import re
from html import escape, unescape
from typing import NamedTuple

from lxml import etree, html

_NOT_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_REFERENCE = re.compile(r"&#(?:[0-9]+|x[0-9a-f]+);?", re.IGNORECASE)


class ShownText(NamedTuple):
    """A text with its formulas in dollars, not yet sanitized, and the highlighted formulas' ids."""

    html: str
    highlighted: frozenset[str]


def read_shown(pasted: str) -> ShownText:
    """Return the source of HTML that a page showed; it is untrusted and must be sanitized.

    A typeset formula keeps its LaTeX in `data-latex`; the sanitizer removes MathML without it.
    Links are reduced to their text. Input that cannot be parsed is returned as escaped source.
    """
    pasted = _REFERENCE.sub(_reference, _NOT_XML.sub("", pasted))
    try:
        root = html.fragment_fromstring(pasted, create_parent="div")
    except (AssertionError, ValueError, etree.LxmlError):
        return ShownText(escape(pasted), frozenset())
    highlighted = set()
    for formula in root.xpath(".//*[@data-latex]"):
        known, latex = (
            _NOT_XML.sub("", formula.get(name, "")) for name in ("data-formula-id", "data-latex")
        )
        classes = (formula.get("class") or "").split()
        if "is-highlighted" in classes:
            known = known or "marked"
            highlighted.add(known)
        dollars = "$$" if "is-display" in classes else "$"
        plain = etree.Element(
            "span", {"class": "math-container"} | ({"id": known} if known else {})
        )
        plain.text, plain.tail = f"{dollars}{latex}{dollars}", formula.tail
        formula.getparent().replace(formula, plain)
    etree.strip_tags(root, "a")
    text = escape(root.text or "") + "".join(
        html.tostring(child, encoding="unicode") for child in root
    )
    return ShownText(text, frozenset(highlighted))


def _reference(match: re.Match[str]) -> str:
    """Return a character reference unchanged, or "" if XML does not allow the character."""
    return match[0] if _NOT_XML.sub("", unescape(match[0])) else ""
