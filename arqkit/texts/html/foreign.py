"""Text from elsewhere as HTML: whole pages, HTML sent back by a browser, and plain text."""

import re
from html import escape, unescape
from typing import NamedTuple

from lxml import etree, html

from arqkit.texts.html.sanitizer import clean_post

# Each matches a formula, whose spaces are kept, or a gap in the text.
_FORMULA = r'(<span class="math-container"[^>]*>[^<]*</span>)'
_LINES = re.compile(rf"{_FORMULA}|\n\s*")
_GAPS = re.compile(rf"{_FORMULA}|\s*\n\s*|[ \t]{{2,}}")
_BREAKS = ("<br>", "</p><p>")

_NOT_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_REFERENCE = re.compile(r"&#(?:[0-9]+|x[0-9a-f]+);?", re.IGNORECASE)

WITHOUT_LATEX = "[formula without LaTeX]"
_IS_PAGE = re.compile(r"<(?:!doctype|html|head|body|(?:\w+:)?math)\b", re.IGNORECASE)
_LATEX = ("application/x-tex", "application/x-latex", "tex", "latex")


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
        formula_id, latex = (
            _NOT_XML.sub("", formula.get(name, "")) for name in ("data-formula-id", "data-latex")
        )
        classes = (formula.get("class") or "").split()
        if "is-highlighted" in classes:
            formula_id = formula_id or "marked"
            highlighted.add(formula_id)
        dollars = "$$" if "is-display" in classes else "$"
        plain = etree.Element(
            "span", {"class": "math-container"} | ({"id": formula_id} if formula_id else {})
        )
        plain.text, plain.tail = f"{dollars}{latex}{dollars}", formula.tail
        formula.getparent().replace(formula, plain)
    etree.strip_tags(root, "a")
    text = escape(root.text or "") + "".join(
        html.tostring(child, encoding="unicode") for child in root
    )
    return ShownText(text, frozenset(highlighted))


def _reference(match: re.Match[str]) -> str:
    return match[0] if _NOT_XML.sub("", unescape(match[0])) else ""


class DocumentHtml(NamedTuple):
    """Title and body of a document as HTML, not yet sanitized.

    `unread` counts the formulas in MathML that come without LaTeX, which a note replaces.
    """

    title: str
    body: str
    unread: int = 0


def document_html(text: str, *, document_id: str) -> DocumentHtml:
    """Return title and body of HTML: of a page or of a fragment, which has no title.

    MathML becomes the LaTeX of its `alttext` or annotation, since pages show formulas from LaTeX.
    Its id is kept if it begins with the document's: others are unique in their document only.
    """
    if not _IS_PAGE.search(text):
        return DocumentHtml("", text)
    parser = html.HTMLParser(encoding="utf-8")
    try:
        root = html.document_fromstring(text.encode(), parser=parser)
    except etree.ParserError:  # nothing but comments
        return DocumentHtml("", "")
    formulas = [element for element in root.iter(etree.Element) if _name(element) == "math"]
    unread = sum(not _replace(element, document_id) for element in formulas)
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


def _replace(math: html.HtmlElement, document_id: str) -> bool:
    """Put the LaTeX of MathML in its place; return whether there is any."""
    written = [math.get("alttext") or ""]
    written += [
        element.text_content()
        for element in math.iter(etree.Element)
        if _name(element) == "annotation" and (element.get("encoding") or "").lower() in _LATEX
    ]
    latex = next((text for source in written if (text := source.strip().strip("$").strip())), "")
    is_display = "block" in (math.get("display"), math.get("mode")) or (
        math.get("mode") == "display"
    )
    dollars = "$$" if is_display else "$"
    plain = html.Element("span")
    if latex:
        plain.set("class", "math-container")
        if (formula_id := math.get("id") or "").startswith(document_id):
            plain.set("id", formula_id)
    plain.text = f"{dollars}{latex}{dollars}" if latex else WITHOUT_LATEX
    plain.tail = math.tail
    parent = math.getparent()
    if parent is not None:
        parent.replace(math, plain)
    return bool(latex)
