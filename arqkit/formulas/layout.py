"""Symbol layout trees: what a formula looks like, as a string that can be compared.

A layout string is a depth-first walk of the symbol layout tree of Presentation MathML (000 §5.4,
004 §5.4, protocol §5). It has one item for each node and each edge, separated by spaces. A node is
either a symbol, written as its type and its text (`V!x` variable, `N!12` number, `O!+` operator,
`T!if` text), or a structure (`F` fraction, `B` fraction without a bar, `R` radical, `A` accent,
`E!box` enclosure, `M` table). An edge is a letter. `n` leads to the next symbol. All other edges
enclose their subtree in brackets: `a` above and `b` below (scripts; pre-scripts before the first
symbol of a row), `o` over and `u` under, `i` the index of a radical, `w` within, `r` and `e` the
rows and elements of a table. `x^2+1` is `V!x a[ N!2 ] n O!+ n N!1`.

The string ignores what a reader cannot see: nested rows, white space, invisible operators, sizes,
stretching and colour. It also ignores whether limits are set beside or below a sum, because inline
and display style show the same formula. The type of a symbol is derived from its characters,
because LaTeXML and Temml disagree on `mi` and `mo`.

The string ignores `mathvariant` and upright against italic, as the official visual ids do.
Blackboard, bold, script and fraktur letters are distinct characters in the organizers' MathML and
have distinct ids, so ℝ is not R. (Merging them would cost .062 of pair precision on the sample.)

An undefined macro that LaTeXML left as `merror` becomes a text node with its name. The official ids
often merge all such formulas (visual id 1014), which would make `x \\gt 0` equal to `x \\lt 0`.
"""

import re
from collections.abc import Iterable, Iterator
from html import escape, unescape
from typing import NamedTuple
from unicodedata import normalize

import polars as pl
from lxml import etree

_SHOWN = dict(zip("−–∗∣‖ˆ‾―˜⌀⊧\u20d7'⋅∶ℎ𝚤𝚥", "--*|∥^¯¯~∅⊨→′·:hıȷ", strict=True)) | {
    mark: "′" * count for count, mark in enumerate("″‴⁗", start=2)
}
_ITALIC = {0x1D434 + n: chr(65 + n) for n in range(26)} | {
    0x1D44E + n: chr(97 + n) for n in range(26)
}
_DROPPED = dict.fromkeys(
    [*range(0x2061, 0x2065), *range(0x200B, 0x2010), 0xFEFF, 0xFE00, 0xFE0E, 0xFE0F]
)
_TABLE: dict[int, str | None] = (
    {ord(sign): same for sign, same in _SHOWN.items()} | _ITALIC | _DROPPED
)

_NUMBER = re.compile(r"[\d.,]*\d[\d.,]*")
_DIGITS = re.compile(r"\d+(?:\.\d+)*|\.\d+|.")

# TeX's large operators: their limits are below and above in display style, and beside them inline.
_LARGE = frozenset(f"n O!{symbol} " for symbol in "∑∏∐⋃⋂⋁⋀⨁⨂⨀⨄⨆⊕⊗⊙⊎⊔∫∬∭∮∯∰⨌")

_LEAVES = frozenset(["mi", "mn", "mo", "mtext", "ms"])
_INVISIBLE = frozenset(
    ["annotation", "annotation-xml", "mphantom", "mspace", "none", "mprescripts", "mglyph"]
)
_CHILDREN = {
    "msub": 2,
    "msup": 2,
    "munder": 2,
    "mover": 2,
    "msubsup": 3,
    "munderover": 3,
    "mfrac": 2,
    "mroot": 2,
}
_MSPACE = "<mspace/>"
_ALTTEXT = re.compile(r"""\salttext=(?:"[^"<]*"|'[^'<]*')""")
_BARE_AMPERSAND = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[0-9A-Fa-f]+);)(\w+;)?")

LONGEST = 500_000  # characters; the longest formula of the sample has 16,522
DEEPEST = 20  # passes that remove empty subtrees; each may leave others empty
CACHED = 100_000  # tokens; real collections have fewer, hostile input may have more

MATH = re.compile(r'\s*(?:<\?xml[^<>]*\?>\s*)?(<(?:\w+:)?math(?:\s(?:[^<>"]|"[^"<]*")*)?>)')
TOKEN = re.compile(r"<m(?:[ino]|text|s)(?:\s[^<>]*)?>[^<]*</[^<>]*>|<[^<>]*>")

_ACCENT = "n A w[ "
_LEAF = re.compile(r"<(m(?:[ino]|text|s))(?:\s[^<>]*)?>([^<]*)</\1\s*>")
_START = re.compile(r"<([a-z-]+)(\s[^<>]*?)?(/?)>")
_END = re.compile(r"</([a-z-]+)\s*>")
_BARLESS = re.compile(r"""linethickness=["']0""")
_NOTATION = re.compile(r"""notation=["']([^"']*)""")
_FRAMED = re.compile(r"border:1px solid;")  # Temml's \boxed

_NOTHING = frozenset(
    ["mspace", "none", "mrow", "mtext", "mi", "mo", "mn", "mpadded", "mprescripts", "malignmark"]
)

_LINES = {"top": "] o[ n O!¯ ] ", "bottom": "] u[ n O!¯ ] "}

_EMPTY = re.compile(r"[abuoir]\[ \] |(?:e\[ \] )+(?=\])")
_DOTS = "O!. n O!. n O!. "
# An accent without a mark, as in Temml's arrows.
_BARE = re.compile(r"A w\[ ([^\[\]]*)\] (?![ou]\[)")
_NUMBERS = re.compile(r"N!\S+(?: n N!\S+)+")
_NEGATED = re.compile(r"(\S) n O!\u0338 ")
_AMPERSAND = re.compile(r"(?<=e\[ )V!a n V!m n V!p n O!; (?:n )?")
_ESCAPED = re.compile(r"O!& n (?:V!l n V!t|(V!g n V!t)|(V!a n V!m n V!p)) n O!; ")


def leaf_item(text: str, *, is_text: bool) -> str:
    """Return the layout items of a MathML leaf and their edges, or "" if it shows nothing.

    Text with fewer than two letters is treated as the symbols it consists of.
    """
    visible = normalize("NFC", "".join(text.translate(_TABLE).split()))
    if not visible:
        return ""
    if is_text and sum(map(str.isalpha, visible)) > 1:
        return f"n T!{visible} "
    if _NUMBER.fullmatch(visible):
        return "".join(
            f"n {'O' if part in ',.' else 'N'}!{part} " for part in _DIGITS.findall(visible)
        )
    if any(map(str.isalpha, visible)) and visible.isascii():
        return f"n V!{visible} "
    return "".join(f"n {'V' if symbol.isalpha() else 'O'}!{symbol} " for symbol in visible)


def limits_beside(item: str) -> bool:
    """Return whether an item may have its limits beside it: a large operator or a name."""
    return item in _LARGE or (item.startswith("n V!") and len(item) > len("n V!x "))


class OddMathMLError(Exception):
    """An unknown token, or elements that are not nested properly."""


def careful_tokens(formula: str) -> list[str]:
    """Return the tokens after the start tag of `math`, with which the formula begins.

    Raises OddMathMLError if the XML is malformed.
    """
    text = _ALTTEXT.sub("", formula, count=1)
    text = _BARE_AMPERSAND.sub(lambda match: escape(unescape(match[0])), text)
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(text.encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError as error:
        raise OddMathMLError from error
    return [*_child_tokens(root), "</math>"]


def _child_tokens(element: etree._Element) -> Iterator[str]:
    for child in element:
        yield from _tokens(child)


def _tokens(element: etree._Element) -> Iterator[str]:
    name = _name(element)
    if name in _LEAVES:
        yield f"<{name}>{escape(''.join(map(str, element.itertext())), quote=False)}</{name}>"
    elif name in _INVISIBLE:
        yield _MSPACE
    elif name == "mmultiscripts":
        yield from _with_scripts_on_both_sides(list(element))
    elif name == "mfenced":
        yield from _fenced(element)
    elif name == "mlabeledtr":
        yield from [
            "<mtr>",
            *(token for cell in list(element)[1:] for token in _tokens(cell)),
            "</mtr>",
        ]
    elif name == "maction":
        yield from [
            "<mrow>",
            *(token for child in list(element)[:1] for token in _tokens(child)),
            "</mrow>",
        ]
    else:
        yield from _plain(element, name)


def _plain(element: etree._Element, name: str) -> Iterator[str]:
    """Yield the tokens of an ordinary element, merging surplus children into one base.

    Temml writes operator names with surplus children.
    """
    attributes = [
        f' {key}="{escape(str(element.attrib[key]))}"'
        for key in ("linethickness", "notation")
        if key in element.attrib
    ]
    children = _enough_children(element, _CHILDREN.get(name, 0))
    surplus = len(children) - _CHILDREN.get(name, len(children))
    yield f"<{name}{''.join(attributes)}>"
    if surplus > 0:
        yield "<mrow>"
    for number, child in enumerate(children):
        yield from _tokens(child)
        if number == surplus > 0:
            yield "</mrow>"
    yield f"</{name}>"


def _enough_children(element: etree._Element, needed: int) -> list[etree._Element]:
    """Return the children of an element, unpacking `mpadded` until there are enough.

    In some formulas of the published index, an unclosed `mpadded` swallowed its siblings.
    """
    children = list(element)
    while len(children) < needed and any(_name(child) == "mpadded" for child in children):
        children = [
            part for child in children for part in (child if _name(child) == "mpadded" else [child])
        ]
    return children


def _with_scripts_on_both_sides(children: list[etree._Element]) -> Iterator[str]:
    """Yield pre-scripts as scripts of an empty base, then the base with its own scripts."""
    names = [_name(child) for child in children]
    cut = names.index("mprescripts") if "mprescripts" in names else len(children)
    base, after, before = children[:1], children[1:cut], children[cut + 1 :]
    yield "<mrow>"
    for pair in _pairs(before):
        yield from _scripted([], pair)
    pairs = _pairs(after) or [[]]
    for number, pair in enumerate(pairs):
        yield from _scripted(base if number == 0 else [], pair)
    yield "</mrow>"


def _pairs(scripts: list[etree._Element]) -> list[list[etree._Element]]:
    return [scripts[start : start + 2] for start in range(0, len(scripts), 2)]


def _scripted(base: list[etree._Element], pair: list[etree._Element]) -> Iterator[str]:
    yield "<msubsup>"
    for part in (base, pair[:1], pair[1:]):
        yield from (token for element in part for token in _tokens(element))
        if not part:
            yield _MSPACE
    yield "</msubsup>"


def _fenced(element: etree._Element) -> Iterator[str]:
    separators = "".join(element.get("separators", ",").split())
    yield "<mrow>"
    yield f"<mo>{escape(element.get('open', '('))}</mo>"
    for number, child in enumerate(element):
        if number and separators:
            yield f"<mo>{escape(separators[min(number, len(separators)) - 1])}</mo>"
        yield from _tokens(child)
    yield f"<mo>{escape(element.get('close', ')'))}</mo>"
    yield "</mrow>"


def _name(element: etree._Element) -> str:
    return etree.QName(element).localname if isinstance(element.tag, str) else ""


def layout_string(mathml: str) -> str | None:
    """Return the layout string of one formula, or None without readable MathML or symbols."""
    return layout_strings([mathml])[0]


def layout_strings(mathml: Iterable[str | None]) -> list[str | None]:
    """Return the layout string of each formula, in order; see `layout_string`.

    This is the fast path for many formulas. Malformed MathML yields None and raises nothing.
    """
    return [_layout(formula) if formula else None for formula in mathml]


def read_layouts(formulas: pl.DataFrame) -> pl.DataFrame:
    """Return formula_id and layout of rows of formula_id and formula (MathML)."""
    layouts = pl.Series("layout", layout_strings(formulas["formula"]), pl.String)
    return formulas.select("formula_id", layouts)


def forget() -> None:
    """Clear the cache of token meanings."""
    _meanings.clear()


def _layout(formula: str) -> str | None:
    start = MATH.match(formula)
    if start is None or len(formula) > LONGEST:
        return None
    if len(_meanings) > CACHED:
        forget()
    try:
        return _finished(_walk(TOKEN.findall(formula, start.end())))
    except OddMathMLError:
        pass
    try:
        return _finished(_walk(careful_tokens(formula[start.start(1) :])))
    except OddMathMLError:
        return None


# --- the walk


class _Frame:
    """The state of an open element: what to write after its next child, and the state after that.

    An element ends at the frame whose `closes` is its name, and writes `closing`. If `beside` is
    set and the base takes its limits beside it, the walk continues with that frame.
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
    """The meaning of a start tag: the text it writes and the frame of its children."""

    text: str
    frame: _Frame


class _Closing(NamedTuple):
    """The meaning of an end tag: the name of its element."""

    name: str


def _walk(tokens: Iterable[str]) -> list[str]:
    """Return what the tokens after the start tag of `math` show, in order."""
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
    """Return whether the base just written takes limits beside it; it then opens no accent."""
    place = len(out) - 1
    # The loop ends at the latest where the base was opened as an accent.
    while not out[place] or limits_beside(out[place]):
        place -= 1
    if out[place] != _ACCENT or not any(out[place + 1 :]):
        return False
    out[place] = ""
    return True


# --- the meaning of tags


def _chain(name: str, *separators: str) -> _Frame:
    """Return the frames of an element with one child for each separator."""
    frame = _Frame("", None, name)
    frame.next = _Frame("", None, "")  # never closes: there is one child too many
    for separator in reversed(separators):
        frame = _Frame(separator, frame, "")
    return frame


def _limits(name: str, over: tuple[str, ...], beside: tuple[str, ...]) -> _Opening:
    frame = _chain(name, *over)
    frame.beside = _chain(name, *beside)
    return _Opening(_ACCENT, frame)


_CONTENT = _Frame("", None, "math")
_OUTSIDE = _chain("", "")
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


class _Meanings(dict[str, "str | _Opening | _Closing"]):
    """A cache of token meanings; formulas consist of few distinct tokens."""

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


# --- the finished string


def _finished(out: list[str]) -> str | None:
    text = "".join(out).replace("[ n ", "[ ")
    if "[ ] " in text:
        text = _without_empty(text)
    if " n N!" in text:
        text = _NUMBERS.sub(lambda match: "N!" + match[0][2:].replace(" n N!", ""), text)
    if "O!. n O!. " in text:
        text = text.replace(_DOTS, "O!… ")
    if "\u0338" in text:
        text = normalize("NFC", _NEGATED.sub("\\1\u0338 ", text))
    # LaTeXML reads the HTML escapes of alignment tabs and of relations letter by letter.
    if "V!p n O!; " in text:
        text = _AMPERSAND.sub("", text)
    if "O!& " in text:
        text = _ESCAPED.sub(
            lambda match: f"O!{'>' if match[1] else '&' if match[2] else '<'} ", text
        )
    return text.removeprefix("n ").rstrip() or None


def _without_empty(text: str) -> str:
    for _ in range(DEEPEST):
        before, text = text, _BARE.sub(r"\1", _EMPTY.sub("", text))
        if before == text:
            break
    return text
