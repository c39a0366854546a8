"""Presentation MathML to a symbol layout tree string: what a formula looks like, as text that can
be compared.

The string is a depth-first walk of the symbol layout tree (000 §5.4, 004 §5.4, protocol §5): one
item for each node and each edge, separated by blanks. A node is its type and what it shows (`V!x`
variable, `N!12` number, `O!+` operator, `T!if` text) or a structure (`F` fraction, `B` the same
without its bar, `R` radical, `A` accent, `E!box` enclosure, `M` table). An edge is a letter: `n`
next; then, with brackets around what hangs on it, `a` above and `b` below (scripts; before the
first symbol of a row pre-above and pre-below), `o` over and `u` under, `i` the index of a radical,
`w` within, `r` and `e` the rows and elements of a table. `x^2+1` is `V!x a[ N!2 ] n O!+ n N!1`.

What does not show does not matter: nesting of rows, white space and invisible operators, sizes and
stretching, colour, whether the limits of a sum stand beside or below it (that is the same formula
in a line and in a display). The type of a symbol comes from its characters, because LaTeXML and
Temml differ on `mi` and `mo`.

Fonts are ignored as far as the official visual ids ignore them: `mathvariant`, upright against
italic. Blackboard, bold, script and fraktur letters are characters of their own in the organizers'
MathML, and the ids keep them apart (taking them for plain letters costs .062 of the pair precision
on the sample), so ℝ is not R.

An undefined macro that LaTeXML left (`merror`) is a text node that shows its name. The official ids
often take all of them for one (visual id 1014), which would make one formula of `x \\gt 0` and `x
\\lt 0`.
"""

import re
from collections.abc import Iterable
from html import unescape
from typing import NamedTuple
from unicodedata import normalize

from arqlab.ir.formulas.layout_symbols import leaf_item, limits_beside
from arqlab.ir.formulas.layout_tokens import OddMathMLError, careful_tokens

LONGEST = 500_000  # characters; the longest SLT of the collection's sample has 16,522
DEEPEST = 20  # how often what is empty is taken out, and then what is empty without it
REMEMBERED = 100_000  # tokens; real ones are fewer, hostile ones are not


def layout_string(mathml: str) -> str | None:
    """Return the symbol layout tree string of one formula; None where there is no MathML to read or
    it shows nothing.
    """
    return layout_strings([mathml])[0]


def layout_strings(mathml: Iterable[str | None]) -> list[str | None]:
    """Return the symbol layout tree string of each formula, in order; the fast path for many. Nothing
    is raised.
    """
    return [_layout(formula) if formula else None for formula in mathml]


def forget() -> None:
    """Forget what tokens mean; it is worked out again when they are next met."""
    _meanings.clear()


def _layout(formula: str) -> str | None:
    start = _MATH.match(formula)
    if start is None or len(formula) > LONGEST:
        return None
    if len(_meanings) > REMEMBERED:
        forget()
    try:
        return _finished(_walk(_TOKEN.findall(formula, start.end())))
    except OddMathMLError:
        pass
    try:
        return _finished(_walk(careful_tokens(formula[start.start(1) :])))
    except OddMathMLError:
        return None


# --- the walk
# --------------------------------------------------------------------------------------------------------

_MATH = re.compile(r'\s*(?:<\?xml[^<>]*\?>\s*)?(<(?:\w+:)?math(?:\s(?:[^<>"]|"[^"<]*")*)?>)')
_TOKEN = re.compile(r"<m(?:[ino]|text|s)(?:\s[^<>]*)?>[^<]*</[^<>]*>|<[^<>]*>")


class _Frame:
    """What an open element writes when its next child is complete (`separator`), and the frame
    after that.

    An element closes at the frame that has its name in `closes`, and writes `closing`. Where
    `beside` is set, that frame goes on instead if the base takes its limits beside it.
    """

    __slots__ = ("beside", "closes", "closing", "next", "separator")

    def __init__(
        self, separator: str, following: "_Frame | None", closes: str, closing: str = ""
    ) -> None:
        self.separator = separator
        self.next = following or self
        self.closes = closes
        self.closing = closing
        self.beside: _Frame | None = None


class _Opening(NamedTuple):
    """The meaning of a start tag: what it writes, and the frame of its children."""

    text: str
    frame: _Frame


class _Closing(NamedTuple):
    """The meaning of an end tag: the name of its element."""

    name: str


def _walk(tokens: Iterable[str]) -> list[str]:
    """Write what the tokens after the start tag of `math` show, in order."""
    out: list[str] = []
    write = out.append
    stack, frame = [_OUTSIDE], _CONTENT
    for token in tokens:
        meaning = _meanings[token]
        if isinstance(meaning, str):
            write(meaning)
        elif isinstance(meaning, _Opening):
            write(meaning.text)
            stack.append(frame)
            frame = meaning.frame
            continue
        elif frame.closes == meaning.name:
            write(frame.closing)
            frame = stack.pop()
        else:
            raise OddMathMLError
        if frame.beside is not None and _takes_limits(out):
            frame = frame.beside
        write(frame.separator)
        frame = frame.next
    if frame is not _OUTSIDE.next:
        raise OddMathMLError
    return out


def _takes_limits(out: list[str]) -> bool:
    """Return whether the base just written takes limits beside it; if so, it is no longer opened as an
    accent.
    """
    place = len(out) - 1
    while not out[place] or limits_beside(
        out[place]
    ):  # the base was opened as an accent, which ends this
        place -= 1
    if out[place] != _ACCENT or not any(out[place + 1 :]):
        return False
    out[place] = ""
    return True


# --- what tags mean --------------------------------------------------------------------------------------------------

_ACCENT = "n A w[ "
_LEAF = re.compile(r"<(m(?:[ino]|text|s))(?:\s[^<>]*)?>([^<]*)</\1\s*>")
_START = re.compile(r"<([a-z-]+)(\s[^<>]*?)?(/?)>")
_END = re.compile(r"</([a-z-]+)\s*>")
_BARLESS = re.compile(r"""linethickness=["']0""")
_NOTATION = re.compile(r"""notation=["']([^"']*)""")
_FRAMED = re.compile(r"border:1px solid;")  # how Temml says boxed


def _chain(name: str, *separators: str) -> _Frame:
    """Make the frames of an element with as many children as separators."""
    frame = _Frame("", None, name)
    frame.next = _Frame("", None, "")  # one child too many: nothing closes here
    for separator in reversed(separators):
        frame = _Frame(separator, frame, "")
    return frame


def _limits(name: str, over: tuple[str, ...], beside: tuple[str, ...]) -> _Opening:
    frame = _chain(name, *over)
    frame.beside = _chain(name, *beside)
    return _Opening(_ACCENT, frame)


_CONTENT = _Frame("", None, "math")
_OUTSIDE = _chain("", "")
_NOTHING = frozenset(
    ["mspace", "none", "mrow", "mtext", "mi", "mo", "mn", "mpadded", "mprescripts", "malignmark"]
)
_OPENINGS = {
    **{
        name: _Opening("", _Frame("", None, name))
        for name in ("mrow", "mstyle", "mpadded", "merror")
    },
    **{name: _Opening("", _Frame("", None, name)) for name in ("semantics", "annotation")},
    "msub": _Opening("", _chain("msub", "b[ ", "] ")),
    "msup": _Opening("", _chain("msup", "a[ ", "] ")),
    "msubsup": _Opening("", _chain("msubsup", "b[ ", "] a[ ", "] ")),
    "mfrac": _Opening("n F o[ ", _chain("mfrac", "] u[ ", "] ")),
    "msqrt": _Opening("n R w[ ", _Frame("", None, "msqrt", "] ")),
    "mroot": _Opening("n R w[ ", _chain("mroot", "] i[ ", "] ")),
    "munder": _limits("munder", ("] u[ ", "] "), ("b[ ", "] ")),
    "mover": _limits("mover", ("] o[ ", "] "), ("a[ ", "] ")),
    "munderover": _limits("munderover", ("] u[ ", "] o[ ", "] "), ("b[ ", "] a[ ", "] ")),
    "mtable": _Opening("n M ", _Frame("", None, "mtable")),
    "mtr": _Opening("r[ ", _Frame("", None, "mtr", "] ")),
    "mtd": _Opening("e[ ", _Frame("", None, "mtd", "] ")),
}
_BINOMIAL = _Opening("n B o[ ", _OPENINGS["mfrac"].frame)
_LINES = {"top": "] o[ n O!¯ ] ", "bottom": "] u[ n O!¯ ] "}


class _Meanings(dict[str, "str | _Opening | _Closing"]):
    """What each token means, worked out when it is first met: real formulas are made of few
    different tokens.
    """

    def __missing__(self, token: str) -> "str | _Opening | _Closing":
        meaning = self[token] = _meaning(token)
        return meaning


_meanings = _Meanings()


def _meaning(token: str) -> "str | _Opening | _Closing":
    if leaf := _LEAF.fullmatch(token):
        return leaf_item(unescape(leaf[2]), is_text=leaf[1] in ("mtext", "ms"))
    if end := _END.fullmatch(token):
        return _Closing(end[1])
    start = _START.fullmatch(token)
    if start and start[3] and start[1] in _NOTHING:
        return ""
    if start is None or start[3]:
        raise OddMathMLError
    return _opening(start[1], start[2] or "")


def _opening(name: str, attributes: str) -> _Opening:
    if name == "mfrac" and _BARLESS.search(attributes):
        return _BINOMIAL
    if name == "mrow" and _FRAMED.search(attributes):
        return _Opening("n E!box w[ ", _Frame("", None, name, "] "))
    if name == "mspace":
        return _Opening("", _Frame("", None, name))
    if name == "menclose":
        notation = _NOTATION.search(attributes)
        kind = "".join(sorted(notation[1].split())) if notation else "longdiv"
        if kind in _LINES:
            return _Opening(_ACCENT, _Frame("", None, name, _LINES[kind]))
        return _Opening(f"n E!{kind} w[ ", _Frame("", None, name, "] "))
    if name not in _OPENINGS:
        raise OddMathMLError
    return _OPENINGS[name]


# --- the whole string ------------------------------------------------------------------------------------------------

_EMPTY = re.compile(r"[abuoir]\[ \] |(?:e\[ \] )+(?=\])")
_DOTS = "O!. n O!. n O!. "
_BARE = re.compile(
    r"A w\[ ([^\[\]]*)\] (?![ou]\[)"
)  # an accent that shows nothing, as Temml's arrows have
_NUMBERS = re.compile(r"N!\S+(?: n N!\S+)+")
_NEGATED = re.compile(r"(\S) n O!\u0338 ")
_AMPERSAND = re.compile(r"(?<=e\[ )V!a n V!m n V!p n O!; (?:n )?")
_ESCAPED = re.compile(r"O!& n (?:V!l n V!t|(V!g n V!t)|(V!a n V!m n V!p)) n O!; ")


def _finished(out: list[str]) -> str | None:
    text = "".join(out).replace("[ n ", "[ ")
    if "[ ] " in text:
        text = _without_empty(text)
    if " n N!" in text:
        text = _NUMBERS.sub(lambda found: "N!" + found[0][2:].replace(" n N!", ""), text)
    if "O!. n O!. " in text:
        text = text.replace(_DOTS, "O!… ")
    if "\u0338" in text:
        text = normalize("NFC", _NEGATED.sub("\\1\u0338 ", text))
    if (
        "V!p n O!; " in text
    ):  # LaTeXML read the HTML escape of an alignment's ampersand letter by letter
        text = _AMPERSAND.sub("", text)
    if "O!& " in text:  # or that of a relation
        text = _ESCAPED.sub(
            lambda found: f"O!{'>' if found[1] else '&' if found[2] else '<'} ", text
        )
    return text.removeprefix("n ").rstrip() or None


def _without_empty(text: str) -> str:
    for _ in range(DEEPEST):
        before, text = text, _BARE.sub(r"\1", _EMPTY.sub("", text))
        if before == text:
            break
    return text
