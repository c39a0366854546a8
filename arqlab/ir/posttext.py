"""A post's HTML as the collection has it (protocol §2): its formulas by id, and its words without them."""

import re
from collections.abc import Callable
from html import escape, unescape
from typing import NamedTuple

_SPAN = re.compile(r"<span\b(?P<marks>[^>]*\bmath-container\b[^>]*)>(?P<inside>.*?)</span\s*>", re.DOTALL)
_ID = re.compile(r"""\bid\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
_BLOCK = re.compile(r"</?(?:p|br|hr|div|ul|ol|li|blockquote|pre|table|tr|t[dh]|h[1-6])\b[^>]*>", re.IGNORECASE)
_TAG = re.compile(r"<[^>]+>")
_PRE = re.compile(r"(<pre\b.*?</pre\s*>)", re.DOTALL | re.IGNORECASE)
_DOLLARS = (("$$", "$$"), (r"\[", r"\]"), ("$", "$"), (r"\(", r"\)"))


class TextFormula(NamedTuple):
    """A formula in a text: its id, empty where it has none, and its LaTeX without dollars."""

    formula_id: str
    latex: str


def text_formulas(html: str) -> list[TextFormula]:
    """Give the formulas of a text in its order."""
    return [_formula(span) for span in _SPAN.finditer(html)]


def plain_text(html: str) -> str:
    """Give the words of a text without its formulas; blank lines stand between its blocks."""
    return unescape(_TAG.sub(" ", _BLOCK.sub("\n\n", _SPAN.sub(" ", html)))).strip()


def plain_title(html: str) -> str:
    """Give a title as one line of text, its formulas as LaTeX between dollars."""
    with_latex = _SPAN.sub(lambda span: escape(f"${_formula(span).latex}$"), html)
    return " ".join(unescape(_TAG.sub("", with_latex)).split())


def renumbered(html: str, number: Callable[[TextFormula], str]) -> str:
    """Give the text with its formulas under other ids, and on one line but for preformatted blocks."""

    def span(found: re.Match[str]) -> str:
        return f'<span class="math-container" id="{number(_formula(found))}">{_one_line(found["inside"], "%")}</span>'

    pieces = _PRE.split(_SPAN.sub(span, html.replace("\r\n", "\n")))
    # What was preformatted stands at the odd places; a formula with a comment keeps its line as well.
    return "".join(piece if at % 2 else _joined(piece) for at, piece in enumerate(pieces)).strip()


def _joined(html: str) -> str:
    parts: list[str] = []
    end = 0
    for span in _SPAN.finditer(html):
        parts += [_one_line(html[end : span.start()]), span[0]]
        end = span.end()
    return "".join([*parts, _one_line(html[end:])])


def _one_line(text: str, unless: str = "") -> str:
    """Put a text on one line, as the labs' topics have it; LaTeX with a comment would lose what follows."""
    return text if unless and unless in text else re.sub(r"[\r\n]", " ", text)


def _formula(span: re.Match[str]) -> TextFormula:
    known = _ID.search(span["marks"])
    latex = unescape(span["inside"]).strip()
    for opening, closing in _DOLLARS:
        if latex.startswith(opening) and latex.endswith(closing) and len(latex) >= len(opening + closing):
            latex = latex[len(opening) : -len(closing)]
            break
    return TextFormula(next(filter(None, known.groups()), "") if known else "", latex.strip())
