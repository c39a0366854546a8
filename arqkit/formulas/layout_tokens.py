"""Tokens of unusual MathML, read by an XML parser for `arqkit.formulas.layout`.

Prefixes, comments, named entities, pre-scripts, fences, phantoms, annotations and HTML inside text
are rare, so this module favours care over speed. It refuses document types and never resolves a
document's entities.
"""

import re
from collections.abc import Iterator
from html import escape, unescape
from unicodedata import normalize

from lxml import etree

_SHOWN = {
    "−": "-",
    "–": "-",
    "∗": "*",
    "∣": "|",
    "‖": "∥",
    "ˆ": "^",
    "‾": "¯",
    "―": "¯",
    "˜": "~",
    "˙": "˙",
    "⌀": "∅",
    "⊧": "⊨",
    "⃗": "→",
    "″": "′′",
    "‴": "′′′",
    "⁗": "′′′′",
    "'": "′",
    "⋅": "·",
    "∶": ":",
    "ℎ": "h",
    "𝚤": "ı",
    "𝚥": "ȷ",
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
_NOTHING = "<mspace/>"
_ALTTEXT = re.compile(r"""\salttext=(?:"[^"<]*"|'[^'<]*')""")
_BARE = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[0-9A-Fa-f]+);)(\w+;)?")


def careful_tokens(formula: str) -> list[str]:
    """Return the tokens after the start tag of `math`, with which the formula begins.

    Raises OddMathMLError if the XML is malformed.
    """
    text = _BARE.sub(lambda match: escape(unescape(match[0])), _ALTTEXT.sub("", formula, count=1))
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
        yield _NOTHING
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
    kept = [
        f' {key}="{escape(str(element.attrib[key]))}"'
        for key in ("linethickness", "notation")
        if key in element.attrib
    ]
    children = _enough_children(element, _CHILDREN.get(name, 0))
    surplus = len(children) - _CHILDREN.get(name, len(children))
    yield f"<{name}{''.join(kept)}>"
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
            yield _NOTHING
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
