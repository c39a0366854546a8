"""The body of a document: of a whole page of HTML, with its MathML as LaTeX between dollars."""

from __future__ import annotations

import re
from html import escape
from typing import NamedTuple

from lxml import etree, html

WITHOUT_LATEX = "[formula without LaTeX]"
_IS_PAGE = re.compile(r"<(?:!doctype|html|head|body|(?:\w+:)?math)\b", re.IGNORECASE)
_LATEX = ("application/x-tex", "application/x-latex", "tex", "latex")


class DocumentHtml(NamedTuple):
    """Title and body of a document as HTML, not yet sanitized.

    `unread` counts the formulas in MathML that come without LaTeX, which a note replaces.
    """

    title: str
    body: str
    unread: int = 0


def document_html(text: str) -> DocumentHtml:
    """Return title and body of HTML: of a page or of a fragment, which has no title.

    MathML becomes the LaTeX of its `alttext` or annotation, since pages show formulas from LaTeX.
    """
    if not _IS_PAGE.search(text):
        return DocumentHtml("", text)
    parser = html.HTMLParser(encoding="utf-8")
    try:
        root = html.document_fromstring(text.encode(), parser=parser)
    except etree.ParserError:  # nothing but comments
        return DocumentHtml("", "")
    formulas = [element for element in root.iter(etree.Element) if _name(element) == "math"]
    unread = sum(not _replace(element) for element in formulas)
    title = root.findtext(".//head/title") or ""
    body = root.find("body")
    if body is None:
        return DocumentHtml(escape(title.strip()), "", unread)
    inner = [html.tostring(child, encoding="unicode") for child in body]
    return DocumentHtml(escape(title.strip()), escape(body.text or "") + "".join(inner), unread)


def text_html(text: str) -> str:
    """Return plain text as HTML, with a paragraph for each block between blank lines."""
    blocks = re.split(r"\n\s*\n", text.replace("\r\n", "\n").strip())
    return "".join(f"<p>{escape(block.strip())}</p>\n" for block in blocks if block)


def _name(element: html.HtmlElement) -> str:
    return str(element.tag).rpartition(":")[2].lower()


def _replace(math: html.HtmlElement) -> bool:
    """Put the LaTeX of MathML in its place; return whether there is any."""
    latex = _latex_of(math)
    is_display = "block" in (math.get("display"), math.get("mode")) or (
        math.get("mode") == "display"
    )
    dollars = "$$" if is_display else "$"
    plain = html.Element("span")
    if latex:
        plain.set("class", "math-container")
    plain.text = f"{dollars}{latex}{dollars}" if latex else WITHOUT_LATEX
    plain.tail = math.tail
    parent = math.getparent()
    if parent is not None:
        parent.replace(math, plain)
    return bool(latex)


def _latex_of(math: html.HtmlElement) -> str:
    written = [math.get("alttext") or ""]
    written += [
        element.text_content()
        for element in math.iter(etree.Element)
        if _name(element) == "annotation" and (element.get("encoding") or "").lower() in _LATEX
    ]
    return next((text for source in written if (text := source.strip().strip("$").strip())), "")
