"""What a post says: its text and its formulas, in order, the words that a search compares, and
other ids for formulas.

A post is the clean HTML of `arqlab.texts.html.sanitizer`: formulas are `<span
class="math-container" id="…">$LATEX$</span>`. Nothing here makes HTML safe; text comes out without
its tags and escapes, and is escaped again by whoever shows it.
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
# Tags inside a word or sentence; all others part words.
_INLINE = frozenset(
    [
        "a",
        "em",
        "strong",
        "i",
        "b",
        "u",
        "s",
        "strike",
        "del",
        "ins",
        "code",
        "kbd",
        "sub",
        "sup",
        "span",
    ]
)
LONGEST_WORD = 64  # characters that are compared; databases refuse words of thousands
_WORD = re.compile(r"[^\W_]+")


class TextFormula(NamedTuple):
    """A formula as it stands in a post: its id ("" without one), its LaTeX without dollars, inline
    or display.
    """

    formula_id: str
    latex: str
    is_display: bool


def pieces(html: str) -> Iterator[str | TextFormula]:
    """Return the text and the formulas of a post in order. Blank lines stand between blocks."""
    end = 0
    for found in _PIECES.finditer(html):
        if text := unescape(html[end : found.start()]):
            yield text
        end = found.end()
        if found["inner"] is not None:
            yield _formula(found)
        elif found["tag"] is None or found["tag"].lower() not in _INLINE:
            yield "\n\n"
    if rest := unescape(html[end:]):
        yield rest


def text_formulas(html: str) -> list[TextFormula]:
    """Return the formulas of a text in its order."""
    return [piece for piece in pieces(html) if not isinstance(piece, str)]


def plain_text(html: str) -> str:
    """Return the text of a post without tags and without formulas."""
    return "".join(piece if isinstance(piece, str) else " " for piece in pieces(html)).strip()


def plain_title(html: str) -> str:
    """Return a title as one line of text, its formulas as LaTeX between dollars."""
    return " ".join(
        "".join(p if isinstance(p, str) else f"${p.latex}$" for p in pieces(html)).split()
    )


def renumbered(html: str, number: Callable[[TextFormula], str]) -> str:
    """Return the text with its formulas under other ids, and on one line but for preformatted blocks."""

    def span(found: re.Match[str]) -> str:
        formula_id = escape(number(_formula(found)))
        return f'<span class="math-container" id="{formula_id}">{_one_line(found["inner"], unless="%")}</span>'

    parts = _PRE.split(_SPAN.sub(span, html.replace("\r\n", "\n")))
    # What was preformatted stands at the odd places; a formula with a comment keeps its line as
    # well.
    return "".join(part if at % 2 else _joined(part) for at, part in enumerate(parts)).strip()


def words(text: str) -> list[str]:
    """Return the words of a text as a search compares them: lower case, without accents, parted at
    all other signs.

    "p-adic" is two words, "L'Hôpital" is l and hopital. Words consist of letters and digits only,
    whatever the text is.
    """
    return [word[:LONGEST_WORD] for word in _WORD.findall(_bare(text))]


def word_spans(text: str) -> Iterator[tuple[int, int, str]]:
    """Return start, end and the word as compared, for each word of a text as it is shown."""
    for found in re.finditer(r"[^\W_][^\W_\u0300-\u036f]*(?:[\u0300-\u036f]+[^\W_]*)*", text):
        if parts := words(found[0]):
            yield found.start(), found.end(), "".join(parts)


def _joined(html: str) -> str:
    parts: list[str] = []
    end = 0
    for span in _SPAN.finditer(html):
        parts += [_one_line(html[end : span.start()]), span[0]]
        end = span.end()
    return "".join([*parts, _one_line(html[end:])])


def _one_line(text: str, *, unless: str = "") -> str:
    """Put a text on one line, as the labs' topics have it; LaTeX with a comment would lose what
    follows.
    """
    return text if unless and unless in text else re.sub(r"[\r\n]", " ", text)


def _bare(text: str) -> str:
    if text.isascii():
        return text.lower()
    # Twice, for ⱽ has no lower case but is V when it is decomposed, and ß is ss only when it is
    # folded.
    folded = unicodedata.normalize("NFKD", text).casefold()
    decomposed = unicodedata.normalize("NFKD", folded)
    return "".join(sign for sign in decomposed if not unicodedata.combining(sign))


def _formula(found: re.Match[str]) -> TextFormula:
    known = _ID.search(found["span"])
    latex, is_display = without_marks(
        unescape(unescape(found["inner"]))
    )  # some topic files escape twice
    return TextFormula(known[1] if known else "", latex, is_display)


def without_marks(text: str) -> tuple[str, bool]:
    """Return the LaTeX of a formula without its dollars or brackets, and whether it is set as a
    display.

    `text` is what stands in its element, with HTML's escapes undone. A bare environment is a
    display.
    """
    latex = text.strip()
    if latex[:1] == "$" == latex[-1:] and len(latex) > 1:
        is_display = latex[:2] == "$$" == latex[-2:] and len(latex) > 3
        return (latex[2:-2] if is_display else latex[1:-1]).strip(), is_display
    for opening, closing, is_display in _MARKS:
        if latex.startswith(opening) and latex.endswith(closing) and len(latex) >= 2 * len(opening):
            return latex[len(opening) : -len(closing)].strip(), is_display
    return latex, latex.startswith(r"\begin{") and latex.endswith("}")
