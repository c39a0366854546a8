"""Text of a post: its words and formulas in order, search terms, and new formula ids.

A post is the clean HTML of `arqkit.texts.html.sanitizer`, where formulas are `<span
class="math-container" id="…">$LATEX$</span>`. This module does not make HTML safe: it returns text
without tags and escapes, which must be escaped again for a page.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from html import escape, unescape
from typing import NamedTuple

_FORMULA = r"<span\b(?P<span>[^>]*\bmath-container\b[^>]*)>(?P<inner>.*?)</span\s*>"
_HIDDEN = r"<(?P<hidden>script|style)\b[^>]*>.*?</(?P=hidden)\s*>|<!--.*?-->"
_PIECES = re.compile(rf"{_FORMULA}|{_HIDDEN}|</?(?P<tag>[a-zA-Z][a-zA-Z0-9]*)\b[^>]*>", re.DOTALL)
_SPAN = re.compile(_FORMULA, re.DOTALL)
_PRE = re.compile(r"(<pre\b.*?</pre\s*>)", re.DOTALL | re.IGNORECASE)
_ID = re.compile(r"""\bid\s*=\s*["']?([\w.:-]{1,80})""")
_MARKS = (("$$", "$$", True), (r"\[", r"\]", True), ("$", "$", False), (r"\(", r"\)", False))
# Tags inside a word or sentence; all other tags separate words.
_INLINE = frozenset(
    """
    a em strong i b u s strike del ins code kbd sub sup span
    """.split()
)
LONGEST_WORD = 64  # characters; databases refuse words with thousands
_WORD = re.compile(r"[^\W_]+")


class TextFormula(NamedTuple):
    """A formula of a post: its id or "", its LaTeX without dollars, and whether it is a display."""

    formula_id: str
    latex: str
    is_display: bool


def pieces(html: str) -> Iterator[str | TextFormula]:
    """Yield the text and the formulas of a post in order, with blank lines between blocks."""
    end = 0
    for match in _PIECES.finditer(html):
        if text := unescape(html[end : match.start()]):
            yield text
        end = match.end()
        if match["inner"] is not None:
            yield _formula(match)
        elif match["tag"] is None or match["tag"].lower() not in _INLINE:
            yield "\n\n"
    if rest := unescape(html[end:]):
        yield rest


def text_formulas(html: str) -> list[TextFormula]:
    """Return the formulas of a text in order."""
    return [piece for piece in pieces(html) if not isinstance(piece, str)]


def plain_text(html: str) -> str:
    """Return the text of a post without tags and formulas."""
    return "".join(piece if isinstance(piece, str) else " " for piece in pieces(html)).strip()


def plain_title(html: str) -> str:
    """Return a title as one line of text, with formulas as LaTeX between dollars."""
    return " ".join(text_with_latex(html).split())


def text_with_latex(html: str) -> str:
    """Return the text of a post without tags, with formulas as LaTeX between dollars."""
    parts = pieces(html)
    return "".join(part if isinstance(part, str) else f"${part.latex}$" for part in parts).strip()


def renumbered(html: str, number: Callable[[TextFormula], str]) -> str:
    """Return the text with new formula ids, on one line except for preformatted blocks."""

    def span(match: re.Match[str]) -> str:
        formula_id = escape(number(_formula(match)))
        inner = _one_line(match["inner"], unless="%")
        return f'<span class="math-container" id="{formula_id}">{inner}</span>'

    parts = _PRE.split(_SPAN.sub(span, html.replace("\r\n", "\n")))
    # Preformatted blocks are at odd positions. A formula with a comment also keeps its lines.
    return "".join(part if at % 2 else _joined(part) for at, part in enumerate(parts)).strip()


def words(text: str) -> list[str]:
    """Return the search terms of a text: lower case, without accents.

    "p-adic" becomes p and adic, "L'Hôpital" becomes l and hopital. Terms have only letters and
    digits; other characters separate them.
    """
    return [word[:LONGEST_WORD] for word in _WORD.findall(_bare(text))]


def word_spans(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and search term of each word of a text as it is displayed."""
    for match in re.finditer(r"[^\W_][^\W_\u0300-\u036f]*(?:[\u0300-\u036f]+[^\W_]*)*", text):
        if parts := words(match[0]):
            yield match.start(), match.end(), "".join(parts)


def _joined(html: str) -> str:
    parts: list[str] = []
    end = 0
    for span in _SPAN.finditer(html):
        parts += [_one_line(html[end : span.start()]), span[0]]
        end = span.end()
    return "".join([*parts, _one_line(html[end:])])


def _one_line(text: str, *, unless: str = "") -> str:
    """Replace line breaks by spaces, as in the labs' topics, unless the text contains `unless`.

    LaTeX with a comment would lose the text after the comment.
    """
    return text if unless and unless in text else re.sub(r"[\r\n]", " ", text)


def _bare(text: str) -> str:
    if text.isascii():
        return text.lower()
    # Normalized twice: ⱽ has no lower case but decomposes to V, and ß becomes ss only by folding.
    folded = unicodedata.normalize("NFKD", text).casefold()
    decomposed = unicodedata.normalize("NFKD", folded)
    return "".join(sign for sign in decomposed if not unicodedata.combining(sign))


def _formula(match: re.Match[str]) -> TextFormula:
    id_match = _ID.search(match["span"])
    # Some topic files escape HTML twice.
    latex, is_display = without_marks(unescape(unescape(match["inner"])))
    return TextFormula(id_match[1] if id_match else "", latex, is_display)


def without_marks(text: str) -> tuple[str, bool]:
    """Return the LaTeX of a formula without its delimiters, and whether it is a display.

    `text` is the text of its element with HTML escapes decoded. A bare environment is a display.
    """
    latex = text.strip()
    if latex[:1] == "$" == latex[-1:] and len(latex) > 1:
        is_display = latex[:2] == "$$" == latex[-2:] and len(latex) > 3
        return (latex[2:-2] if is_display else latex[1:-1]).strip(), is_display
    for opening, closing, is_display in _MARKS:
        if latex.startswith(opening) and latex.endswith(closing) and len(latex) >= 2 * len(opening):
            return latex[len(opening) : -len(closing)].strip(), is_display
    return latex, latex.startswith(r"\begin{") and latex.endswith("}")
