r"""What people type or paste into a search: words, and formulas in any notation.

A formula between marks (`$…$`, `$$…$$`, `\(…\)`, `\[…\]`), in MathML or in an environment is read
as such; one of its marks may be missing. Without marks, a formula is what has commands of LaTeX,
exponents, indices or signs of mathematics, together with the letters, numbers and signs beside it
(`arqkit.texts.posts.bare_formulas`). `?x` is a wildcard named x. All else is text: prices, paths,
units of money and quoted phrases are no formulas.
"""

import re
from collections.abc import Iterator
from html import escape, unescape

from arqkit.texts.maths.mathml_latex import latex_of_mathml
from arqkit.texts.maths.unicode_signs import with_commands
from arqkit.texts.posts.bare_formulas import bare_pieces, is_formula, plain_latex, reads_as_prose
from arqkit.texts.posts.text import TextFormula

Piece = str | TextFormula
_MATHML = re.compile(
    r"<(?P<tag>(?:\w+:)?math)\b.*?(?:</(?P=tag)\s*>|\Z)"
    r"|<(?P<part>(?:\w+:)?m(?:row|frac|sup|sub|subsup|sqrt|root|over|under|underover|table|fenced"
    r"|style))\b.*</(?P=part)\s*>",
    re.DOTALL | re.IGNORECASE,
)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z]+\d{0,2});", re.IGNORECASE)
_HTML_SCRIPT = re.compile(r"<(su[bp])>([^<>]{1,80})</\1>", re.IGNORECASE)
_SCRIPTS = {"sup": "^", "sub": "_"}
_ENVIRONMENT = re.compile(r"\\begin\s*\{([a-zA-Z]+\*?)\}.*?\\end\s*\{\1\}", re.DOTALL)
_QUOTED = re.compile(r'"[^"$\\]*"')
_FILTER = re.compile(r"-?(?:tag|kind|is|score|post|formula|visual):\S*", re.IGNORECASE)
_PAIRS = (("$$", "$$"), (r"\[", r"\]"), (r"\(", r"\)"), ("$", "$"))
_WILDCARD = re.compile(r"(?<![\\?])\?\s?(?:([A-Za-z][0-9]*)|\{([A-Za-z0-9]+)\})")
_SOFT_PAIRS = {"`": "`", "“": "”", "‘": "’"}  # of a formula only if it reads as one
_NAMED = re.compile(r"\\qvar\s*\{\s*([^{}]*?)\s*\}")
_BEFORE_OPENING = re.compile(r"(?:^|[\s(\[{,;:.\-–—])$")
_MARKS = re.compile(r"\\[()\[\]]|\$+")


def typed_pieces(text: str) -> list[Piece]:
    """Return the text and the formulas of what was typed, in order."""
    text = _ENTITY.sub(lambda entity: unescape(entity[0]), text)
    text = _HTML_SCRIPT.sub(lambda script: f"{_SCRIPTS[script[1].lower()]}{{{script[2]}}}", text)
    pieces: list[Piece] = []
    end = 0
    for match in _MATHML.finditer(text):
        pieces += _marked(text[end : match.start()])
        latex = latex_of_mathml(match[0])
        pieces += [_formula(latex)] if latex else []
        end = match.end()
    return _joined([*pieces, *_marked(text[end:])])


def _joined(pieces: list[Piece]) -> list[Piece]:
    """Return pieces with adjacent texts as one."""
    joined: list[Piece] = []
    for piece in pieces:
        before = joined[-1] if joined else None
        if isinstance(piece, str) and isinstance(before, str):
            joined[-1] = before + piece
        elif piece:
            joined.append(piece)
    return joined


def typed_html(text: str) -> str:
    """Return what was typed as the HTML of a post, with its formulas between dollar signs."""
    return "".join(
        escape(piece)
        if isinstance(piece, str)
        else f'<span class="math-container">${escape(piece.latex)}$</span>'
        for piece in typed_pieces(text)
    )


def without_wildcards(text: str) -> str:
    """Return LaTeX, or a text with LaTeX, with the names of wildcards in their places."""
    return _NAMED.sub(r"\1", text)


def _formula(latex: str, *, is_display: bool = False) -> TextFormula:
    named = _WILDCARD.sub(lambda name: rf"\qvar{{{name[1] or name[2]}}}", latex)
    return TextFormula("", with_commands(named).strip(), is_display)


def _marked(text: str) -> Iterator[Piece]:
    """Yield text and formulas; the formulas are between marks, or bare in the rest."""
    place = start = 0
    while place < len(text):
        if skipped := _QUOTED.match(text, place) or _at_word(_FILTER, text, place):
            yield from _rest(text[start:place])
            yield skipped[0]
            place = start = skipped.end()
        elif environment := _ENVIRONMENT.match(text, place):
            place = environment.end()  # it is in a bare formula, or is one
        elif marked := _between_marks(text, place):
            latex, end, is_display = marked
            yield from _rest(text[start:place])
            yield _formula(latex, is_display=is_display)
            place = start = end
        else:
            place += 2 if text[place] == "\\" else 1
    yield from _rest(text[start:])


def _at_word(pattern: re.Pattern[str], text: str, place: int) -> re.Match[str] | None:
    is_start = place == 0 or text[place - 1].isspace()
    return pattern.match(text, place) if is_start else None


def _between_marks(text: str, place: int) -> tuple[str, int, bool] | None:
    """Return the LaTeX between the marks that open at a place, where they close, and whether they
    are those of a display; None if none open there, or they enclose no formula.
    """
    if closing := _SOFT_PAIRS.get(text[place]):
        end = _closing(text, place + 1, closing)
        latex = text[place + 1 : end].strip() if end else ""
        return (plain_latex(latex), end + 1, False) if end and is_formula(latex) else None
    for opening, closing in _PAIRS:
        if not text.startswith(opening, place):
            continue
        first = place + len(opening)
        end = _closing(text, first, closing)
        if end is None:
            continue
        latex = text[first:end]
        after = text[end + len(closing) :]
        if latex.strip() and (opening != "$" or _is_no_price(latex, after)):
            return latex.strip(), end + len(closing), opening in ("$$", r"\[")
    return None


def _closing(text: str, place: int, mark: str) -> int | None:
    """Return where a mark is that is neither escaped nor in braces, as in `\\text{if $n$}`."""
    while place < len(text):
        if text.startswith(mark, place):
            return place
        if text[place] == "{":
            place = _end_of_group(text, place + 1) or place + 1
        else:
            place += 2 if text[place] == "\\" else 1
    return None


def _end_of_group(text: str, place: int) -> int | None:
    depth = 1
    while place < len(text):
        if text[place] == "\\":
            place += 1
        else:
            depth += (text[place] == "{") - (text[place] == "}")
            if depth == 0:
                return place + 1
        place += 1
    return None


def _is_no_price(latex: str, after: str) -> bool:
    """Return whether single dollar signs enclose a formula, and are not two signs of money.

    As in Pandoc, the marks of a formula touch it, and no digit follows the second one.
    """
    if latex[0].isspace() or latex[-1].isspace() or after[:1].isdigit():
        return is_formula(latex) and not after[:1].isdigit()
    return not reads_as_prose(latex)


def _rest(text: str) -> Iterator[Piece]:
    """Yield text without pairs of marks: a single mark opens a formula, or ends one.

    A mark beside which there is no formula is text, such as the sign of an amount of money.
    """
    end, opening = 0, ""
    for mark in _MARKS.finditer(text):
        before, after = text[end : mark.start()], text[mark.end() :]
        is_opening, is_closing = _sides(mark[0], before, after)
        if is_opening or is_closing:
            yield from _beside_marks(before, opening, mark[0] if is_closing else "")
            opening, end = mark[0] if is_opening else "", mark.end()
    yield from _beside_marks(text[end:], opening, "")


def _sides(mark: str, before: str, after: str) -> tuple[bool, bool]:
    """Return whether a single mark opens a formula, and whether it closes one."""
    if "$" not in mark:
        return mark in (r"\(", r"\["), mark in (r"\)", r"\]")
    if before.endswith("\\"):
        return False, False
    if after[:1].strip() and _BEFORE_OPENING.search(before):
        return True, False
    return False, bool(before[-1:].strip()) and not after[:1].isalnum()


def _beside_marks(text: str, opening: str, closing: str) -> Iterator[Piece]:
    """Yield the text and formulas behind a mark that opens, or before one that closes."""
    pieces = [*bare_pieces(text, is_opened=bool(opening), is_closed=bool(closing))]
    visible = [piece for piece in pieces if not isinstance(piece, str) or piece.strip()]
    if opening and (not visible or isinstance(visible[0], str)):
        yield opening
    for piece in pieces:
        yield piece if isinstance(piece, str) else _formula(piece.latex)
    if closing and (not visible or isinstance(visible[-1], str)):
        yield closing
