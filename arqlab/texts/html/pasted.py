"""What a page of ours showed, sent back by a browser, as a text that can be sanitized: typeset
formulas are LaTeX again.
"""

from __future__ import annotations

import re
from html import escape, unescape
from typing import NamedTuple

from lxml import etree, html

_NOT_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_REFERENCE = re.compile(r"&#(?:[0-9]+|x[0-9a-f]+);?", re.IGNORECASE)


class ShownText(NamedTuple):
    """A text with its formulas in dollars, not yet sanitized, and the ids of the formulas that were
    marked in it.
    """

    html: str
    highlighted: frozenset[str]


def read_shown(shown: str) -> ShownText:
    """Return the source of what was shown. Anybody may have sent it: the sanitizer has the last word.

    A formula of ours keeps its LaTeX in `data-latex`; without that, MathML is nothing that the
    sanitizer lets stay. Links are words alone: where they led is not the point here. What no parser
    takes for a text is given as its source.
    """
    shown = _REFERENCE.sub(_reference, _NOT_XML.sub("", shown))
    try:
        root = html.fragment_fromstring(shown, create_parent="div")
    except (AssertionError, ValueError, etree.LxmlError):
        return ShownText(escape(shown), frozenset())
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


def _reference(found: re.Match[str]) -> str:
    """Leave a reference to a character as it is; nothing of one that no XML may hold."""
    return found[0] if _NOT_XML.sub("", unescape(found[0])) else ""
