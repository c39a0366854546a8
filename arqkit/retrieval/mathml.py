"""Presentation MathML as nested nodes, for the converters into trees."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sized
from html import unescape
from typing import NamedTuple

from arqkit.formulas.layout import LONGEST, MATH, TOKEN, OddMathMLError, careful_tokens
from arqkit.texts.maths.typesetting import presentation_mathml
from arqkit.texts.maths.unicode_signs import with_commands

APPLIES, TIMES, SEPARATES, ADDS = "\u2061", "\u2062", "\u2063", "\u2064"
INVISIBLE = frozenset([APPLIES, TIMES, SEPARATES, ADDS])
OPENING = {"(": ")", "[": "]", "{": "}"}
CLOSING = frozenset(")]}|∥")
SCRIPTED = frozenset(["msub", "msup", "msubsup", "munder", "mover", "munderover"])
DEEPEST = 100  # elements or brackets inside each other; the deepest formula of the sample has 41
CACHED = 100_000  # tokens; real collections have fewer, hostile input may have more


WILDCARD_MARK = "⁇"  # before the name of a wildcard in converted LaTeX
_WILDCARD = re.compile(r"\\qvar\s*\{\s*([^{}]*?)\s*\}")

_LEAF = re.compile(r"<(?:\w+:)?(m(?:[ino]|text|s))(?:\s[^<>]*)?>([^<]*)</[^<>]*>")
_START = re.compile(r"<(?:\w+:)?([A-Za-z-]+)(\s[^<>]*?)?(/?)>")
_END = re.compile(r"</(?:\w+:)?([A-Za-z-]+)\s*>")
_BARLESS = re.compile(r"""linethickness=["']0""")
_NAME = re.compile(r"""\sname=["']([^"']*)""")
# Where LaTeXML and Temml write different characters, LaTeXML's.
_SAME: dict[int, str | None] = {
    ord(sign): same for sign, same in zip("−–∗ˆ‾˜‖∶'", "--*^¯~∥:′", strict=True)
}

_ROWS = frozenset(["mrow", "mstyle", "mpadded", "semantics", "math", "mphantom", "maction"])
_DROPPED = frozenset(["mspace", "annotation", "annotation-xml", "none", "mprescripts", "mglyph"])

_CLOSED_AS = {"binomial": "mfrac"}

# Some signs are identifiers in Temml's MathML, and some identifiers signs.
_SIGNS, _NAMES = frozenset("/|%.,;:!=<>+-()[]"), frozenset("?…⋯⋮⋱∞&#")


def formula_mathml(latex: str) -> str | None:
    """Return the MathML of a formula in LaTeX, or None if it cannot be converted.

    Indexes and queries are converted here, so that the trees of a formula and its copy are equal.
    """
    return presentation_mathml(with_commands(latex))


def query_mathml(latex: str) -> str | None:
    r"""Return the MathML of a query in LaTeX, or None if it is empty; `\qvar{x}` is a wildcard."""
    return formula_mathml(marked_wildcards(latex))


def marked_wildcards(latex: str) -> str:
    """Return the LaTeX of a query with its wildcards as marked texts, which can be typeset."""
    return _WILDCARD.sub(rf"\\text{{{WILDCARD_MARK}\1}}", latex)


class Node(NamedTuple):
    """An element: a leaf with its text, or a branch with its children. Rows of one are gone.

    `place` is the number of its tag or its leaf in a formula that is read with places.
    """

    name: str
    text: str
    children: list[Node]
    place: int = -1

    def is_sign(self, *signs: str) -> bool:
        """Return whether this is an operator with one of the texts, or any operator."""
        return self.name == "mo" and (not signs or self.text in signs)

    @property
    def is_fenced(self) -> bool:
        """Return whether this is a row in brackets or bars."""
        return self.name == "mrow" and _is_fenced(self.children)


def read_mathml(formula: str, *, has_places: bool = False) -> Node | None:
    """Return the content of one formula as a node, or None if it is not readable MathML.

    Places are the numbers of the matches of `TOKEN` behind the start tag of `math`.

    Rows of one element are replaced by it, styles and padding are rows, and space is left out. In
    rows as Temml writes them, a pair of brackets and what is between them becomes a row of its own,
    as in LaTeXML's.
    """
    start = MATH.match(formula)
    if start is None or len(formula) > LONGEST:
        return None
    if len(_meanings) > CACHED:
        _meanings.clear()
    try:
        return _nested(TOKEN.findall(formula, start.end()), has_places=has_places)
    except OddMathMLError:
        if has_places:
            return None
    try:
        return _nested(careful_tokens(formula[start.start(1) :]))
    except OddMathMLError:
        return None


_SAME |= dict.fromkeys([0x200B, 0xFE00, 0xFE0E, 0xFE0F])


class _Opening(NamedTuple):
    name: str


class _Closing(NamedTuple):
    name: str


class _Meanings(dict[str, "Node | _Opening | _Closing | None"]):
    """A cache of token meanings; formulas consist of few distinct tokens."""

    def __missing__(self, token: str) -> Node | _Opening | _Closing | None:
        meaning = self[token] = _meaning(token)
        return meaning


_meanings = _Meanings()


def _meaning(token: str) -> Node | _Opening | _Closing | None:
    if leaf := _LEAF.fullmatch(token):
        separator = " " if leaf[1] in ("mtext", "ms") else ""
        text = separator.join(unescape(leaf[2]).translate(_SAME).split())
        if text.startswith(WILDCARD_MARK):
            return Node("qvar", text.removeprefix(WILDCARD_MARK), [])
        name = "mo" if text in _SIGNS else "mi" if text in _NAMES else leaf[1]
        return Node(name, text, []) if text else None
    if end := _END.fullmatch(token):
        return _Closing(_renamed(end[1]))
    start = _START.fullmatch(token)
    if start is None:
        raise OddMathMLError
    name, attributes = _renamed(start[1]), start[2] or ""
    if name == "qvar":  # NTCIR's wildcard
        label = _NAME.search(attributes)
        return Node("qvar", label[1] if label else "", []) if start[3] else _Opening("qvar")
    if name == "mfrac" and _BARLESS.search(attributes):
        name = "binomial"
    if start[3]:
        return None if name in _ROWS or name in _DROPPED else Node(name, "", [])
    return _Opening(name)


def _renamed(name: str) -> str:
    return "mrow" if name in _ROWS else name


def _nested(tokens: Iterable[str], *, has_places: bool = False) -> Node:
    stack: list[tuple[str, list[Node], int]] = []
    name, children, start = "mrow", list[Node](), -1
    for place, token in enumerate(tokens):
        meaning = _meanings[token]
        if isinstance(meaning, Node):
            children.append(meaning._replace(place=place) if has_places else meaning)
        elif isinstance(meaning, _Opening):
            stack.append((name, children, start))
            name, children, start = meaning.name, [], place
            _refuse_depth(stack)
        elif isinstance(meaning, _Closing):
            if not stack:
                return row(children)
            if meaning.name not in (name, _CLOSED_AS.get(name)):
                raise OddMathMLError
            whole = _whole(name, children, start)
            name, children, start = stack.pop()
            children += whole
    raise OddMathMLError


def _whole(name: str, children: list[Node], place: int) -> list[Node]:
    if name == "mrow":
        return [row(children)]
    return [] if name in _DROPPED else [Node(name, "", children, place)]


def _refuse_depth(stack: Sized) -> None:
    if len(stack) > DEEPEST:
        raise OddMathMLError


def row(children: list[Node]) -> Node:
    """Return nodes as one: the only one, or a row in which brackets are rows of their own."""
    if len(children) == 1:
        return children[0]
    if any(child.text in "([{|" for child in children if child.text) and not _is_fenced(children):
        children = _grouped(children)
        if len(children) == 1:
            return children[0]
    return Node("mrow", "", children)


def _is_fenced(children: list[Node]) -> bool:
    """Return whether nodes begin with a bracket or bar and end with the one that closes it."""
    if len(children) < 2 or children[-1].text not in CLOSING:
        return False
    first, last = children[0], children[-1]
    if first.name != "mo" or last.name != "mo":
        return False
    if first.text in "|∥":
        return last.text in "|∥"
    if first.text not in OPENING:
        return False
    depth = 0
    for child in children[:-1]:
        closing = _closing(child)
        depth += (child.text in OPENING) - bool(closing and closing[0].text in ")]}")
        if depth == 0:
            return False
    return True


def _grouped(children: list[Node]) -> list[Node]:
    """Return nodes with each pair of brackets as a row; scripts of a closing bracket are its.

    A bar opens where an operand is expected, and closes what a bar opened.
    """
    stack: list[list[Node]] = [[]]
    for child in children:
        group = stack[-1]
        closes_bar = len(stack) > 1 and group[0].text == "|"
        expects = not group or group[-1].name == "mo"
        if child.is_sign(*OPENING) or (child.is_sign("|") and expects and not closes_bar):
            stack.append([child])
            _refuse_depth(stack)
            continue
        group.append(child)
        scripts = _closing(child)
        if len(stack) > 1 and scripts and (scripts[0].text == "|") == closes_bar:
            stack.pop()
            fenced = Node("mrow", "", [*group[:-1], scripts[0]])
            whole = fenced if len(scripts) == 1 else Node(child.name, "", [fenced, *scripts[1:]])
            stack[-1].append(whole)
    return [child for group in stack for child in group]


def _closing(node: Node) -> list[Node]:
    """Return a closing bracket or bar and its scripts, or nothing."""
    parts = node.children if node.name in SCRIPTED else [node]
    return parts if parts and parts[0].is_sign(")", "]", "}", "|") else []
