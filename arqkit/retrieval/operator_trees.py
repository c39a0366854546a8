"""From MathML to operator trees (see `arqkit.retrieval.trees`).

Content MathML has the operators. Presentation MathML of LaTeXML shows how LaTeXML parsed a formula:
its rows are operands and their operators, of which some are invisible. Other Presentation MathML is
parsed by the usual precedence, and what stands side by side is a product.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from lxml import etree

from arqkit.retrieval.mathml import ADDS, APPLIES, SEPARATES, TIMES, Node, read_mathml
from arqkit.retrieval.trees import Tree, wildcard

UNORDERED = frozenset("and approx eq equivalent intersect neq or plus times union".split())
FUNCTIONS = frozenset(
    "abs arccos arccosh arccot arccoth arccsc arcsec arcsin arcsinh arctan arctanh arg ceiling cos "
    "cosh cot coth csc curl deg det determinant dim divergence exp floor gcd grad hom imaginary "
    "ker lcm ln log max min Pr real sec sech sin sinh tan tanh".split()
)
CONSTANTS = frozenset(["infinity", "emptyset"])
_NAMES = {  # of LaTeXML's symbols, as Tangent-S writes them
    "superscript": "SUP",
    "subscript": "SUB",
    "formulae-sequence": "form-seq",
    "modulo": "rem",
    "for-all": "forall",
    "determinant": "det",
    "differential-d": "d",
    "subset-of": "subset",
    "conditional": "c",
    "hyperbolic-cotangent": "coth",
}

_RELATIONS = {
    "=": "eq", "≠": "neq", "≡": "equivalent", "≈": "approx", "<": "lt", ">": "gt", "≤": "leq",
    "≥": "geq", "≪": "much-less-than", "≫": "much-greater-than", "∈": "in", "∉": "notin",
    "∋": "contains", "⊂": "subset", "⊆": "subset", "⊃": "superset-of",
    "⊇": "superset-of-or-equals", "⟹": "implies", "⟺": "iff", "⇔": "iff", ":=": "assign",
    "≔": "assign", "↦": "maps-to", "∼": "similar-to", "≃": "similar-to-or-equals",
    "≅": "approximately-equals", "∝": "proportional-to", "⟂": "perpendicular-to",
    "∥": "parallel-to", "∣": "c", "|": "c", "∤": "c", "⩾": "geq", "⩽": "leq",
    "≺": "precedes", "≻": "succeeds", "⊢": "proves", "⊧": "models",
}  # fmt: skip
_OTHER_RELATIONS = frozenset("→⇒⇐←⟶↔:~⟵↪↠⇌∤≰≱⊈⊄⋯≲≳≜≐⊨")
_SUMS = {"+": "plus", ADDS: "plus", "-": "minus", "±": "plus-or-minus", "∓": "minus-or-plus"}
_SETS = {"∪": "union", "∩": "intersect", "∨": "or", "∧": "and", "∖": "setdiff"}
_PRODUCTS = {
    TIMES: "times", "×": "times", "*": "times", "/": "divide", "÷": "divide", "∘": "compose",
    "⊗": "tensor-product", "⊕": "direct-sum", "mod": "rem",
}  # fmt: skip
_OTHER_PRODUCTS = frozenset("⋅∗⋆⊙⊖⊎△▽•∙↑↓")
_LARGE = {
    "∑": "sum", "∏": "product", "∫": "int", "∬": "double-integral", "∭": "triple-integral",
    "∮": "contour-integral", "⋃": "union", "⋂": "intersect", "lim": "limit",
    "lim sup": "limit-supremum", "lim inf": "limit-infimum", "sup": "supremum", "inf": "infimum",
    "∂": "partialdiff", "⨁": "direct-sum", "⨂": "tensor-product", "∐": "coproduct",
}  # fmt: skip
_PREFIXES = {"¬": "not", "∀": "forall", "∃": "exists", "∄": "not-exists", "!": "factorial"}
_SIGNS = {**_RELATIONS, **_SUMS, **_SETS, **_PRODUCTS, **_LARGE, **_PREFIXES, "∅": "emptyset"}
_PRECEDENCE: Sequence[tuple[dict[str, str], frozenset[str]]] = (
    (_SUMS, frozenset()),
    (_SETS, frozenset()),
    (_PRODUCTS, _OTHER_PRODUCTS),
)
_SPELLED = {"ϵ": "italic-ϵ", "ϕ": "italic-ϕ", "∞": "infinity", "∅": "emptyset"}
_ITALIC = {chr(65 + n): chr(0x1D434 + n) for n in range(26)}
_ITALIC |= {chr(97 + n): chr(0x1D44E + n) for n in range(26)} | {"h": "ℎ"}
_ITALIC |= {chr(0x3B1 + n): chr(0x1D6FC + n) for n in range(25)}
_ACCENTS = frozenset("¯^~˙¨→´`ˇ˘⏟⏞_‾ˆ˜←↔⌢")

_UPRIGHT = {ord(italic): upright for upright, italic in _ITALIC.items()}

_LEAVES = {"ci": "V!", "cn": "N!", "mtext": "T!"}
_LISTS = {  # labels, with the number of elements
    "list": "M!L-{}", "set": "M!S-{}", "vector": "M!V-{}", "matrixrow": "M!R!", "cerror": "E!",
}  # fmt: skip

_SCRIPTS = {1: "O!SUB", 2: "O!SUP"}
_STRUCTURES = {  # label, or that of the script, and the children after the first, in order
    "msub": ("O!SUB", (1,)),
    "munder": ("O!SUB", (1,)),
    "msup": ("O!SUP", (1,)),
    "mover": ("O!SUP", (1,)),
    "msubsup": ("", (1, 2)),
    "munderover": ("", (1, 2)),
    "mfrac": ("O!divide", (1,)),
    "binomial": ("O!binomial", (1,)),
    "mroot": ("O!root", (1,)),
}
_FENCES = {"(": (")", "]"), "[": (")", "]"), "{": "}", "|": "|", "∥": "∥", "||": ("||",)}

_SIGNED = frozenset(["", "O!SUB", "O!SUP"])


class _Term(NamedTuple):
    """An operation with its operands, or a symbol without."""

    label: str
    operands: Sequence[_Term] = ()


_NOTHING = _Term("W!")


def operator_tree(formula: str) -> Tree | None:
    """Return the operator tree of Content or Presentation MathML, or None if it is unreadable."""
    if "<apply" in formula or "MathML-Content" in formula or "<ci" in formula:
        return content_tree(formula)
    node = read_mathml(formula)
    if node is None:
        return None
    while node.name == "mrow" and len(node.children) > 1 and node.children[-1].is_sign(*".,;"):
        children = node.children[:-1]
        node = children[0] if len(children) == 1 else Node("mrow", "", children)
    parser = _Parser(has_invisible_signs="alttext=" in formula[:500_000].partition(">")[0])
    return _tree(parser.term(node))


def content_tree(formula: str) -> Tree | None:
    """Return the operator tree of Content MathML, or None if it is not well-formed."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False)
    try:
        root = etree.fromstring(formula.strip().encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError:
        return None
    children = [child for child in root if isinstance(child.tag, str)]
    return _tree(_content(children[0])) if children else None


def operation(name: str) -> str:
    """Return the label of an operation by its name in Content MathML or LaTeXML."""
    name = _NAMES.get(name, name)
    if name in UNORDERED:
        return f"U!{name}"
    if name in CONSTANTS:
        return f"C!{name}"
    return f"F!{name}" if name in FUNCTIONS or name in "cd" else f"O!{name}"


def _tree(term: _Term) -> Tree:
    tree = Tree([], [], [])
    stack = [(term, -1, "n")]
    while stack:
        term, parent, edge = stack.pop()
        place = tree.add(term.label, parent, edge)
        stack += [(operand, place, _edge(n)) for n, operand in enumerate(term.operands)][::-1]
    return tree


def _edge(number: int) -> str:
    return chr(48 + number) if number < 10 else chr(87 + min(number, 200))


def _applied(head: _Term, operands: Sequence[_Term]) -> _Term:
    """Return an operation whose head may have scripts of its own, as in a sum with limits."""
    if head.operands:
        return _Term(f"+!{head.operands[0].label}", [head, *operands])
    label = head.label
    if label.startswith("V!"):
        label = f"F!{label[2:].translate(_UPRIGHT)}"
    if label.endswith(("!int", "-integral")):
        operands = [*operands, _NOTHING, _NOTHING]
    return _Term(label, operands)


def _content(element: etree._Element) -> _Term:
    name = etree.QName(element).localname
    children = [child for child in element if isinstance(child.tag, str)]
    text = " ".join((element.text or "").split())
    if name == "csymbol":
        return _symbol(element.get("cd", ""), text)
    if name in _LEAVES:
        return _Term(_LEAVES[name] + text)
    operands = [_content(child) for child in children if not _is_share(child)]
    if name == "apply":
        head, *operands = operands or [_NOTHING]
        return _root(operands) if head.label == "O!root" else _applied(head, operands)
    if name == "interval":
        ends = element.get("closure", "closed").split("-")
        sides = "-".join(end[:1].upper() for end in (ends * 2)[:2])
        return _Term(f"O!interval({sides})", operands)
    if name == "matrix":
        return _matrix(operands)
    return _Term(
        _LISTS[name].format(len(operands)) if name in _LISTS else operation(name), operands
    )


def _matrix(rows: Sequence[_Term]) -> _Term:
    width = max((len(row.operands) for row in rows), default=0)
    return _Term("O!matrix", [_Term(f"M!M-{len(rows)}x{width}", rows)])


def _root(operands: Sequence[_Term]) -> _Term:
    """Return a root with its degree as the last operand, as in Presentation MathML."""
    degrees = [term.operands[0] for term in operands if term.label == "O!degree" and term.operands]
    bodies = [term for term in operands if term.label != "O!degree"]
    return _Term("O!root", [*bodies, *(degrees or [_Term("N!2")])])


def _is_share(element: etree._Element) -> bool:
    """Return whether an operand only repeats the one before, in a chain of relations."""
    return etree.QName(element).localname == "share"


def _symbol(dictionary: str, name: str) -> _Term:
    if dictionary == "unknown":
        return _Term(f"-!{name}")
    if name == "absent":
        return _NOTHING
    if name.startswith("delimited-"):
        return _Term(f"M!D-{name.removeprefix('delimited-')}")
    return _Term(operation(name))


class _Parser:
    """From the nodes of Presentation MathML to terms."""

    def __init__(self, *, has_invisible_signs: bool) -> None:
        self.has_invisible_signs = has_invisible_signs

    def term(self, node: Node) -> _Term:
        """Return a node of presentation MathML as a term of an operator tree, with its operands."""
        name, children = node.name, node.children
        if name == "mrow":
            return self.row(children)
        if not children:
            return _leaf(node)
        if name in ("mover", "munder") and len(children) == 2 and children[1].text in _ACCENTS:
            return _Term(f"F!{children[1].text}", [self.term(children[0])])
        if name in _STRUCTURES:
            return self.structure(*_STRUCTURES[name], children)
        if name == "msqrt":
            return _Term("O!root", [self.row(children), _Term("N!2")])
        if name == "mtable":
            rows = ([self.row(cell.children) for cell in row.children] for row in children)
            return _matrix([_Term("M!R!", row) for row in rows])
        return _NOTHING if name == "merror" else self.row(children)

    def structure(self, label: str, order: Iterable[int], children: Sequence[Node]) -> _Term:
        """Return a base with its scripts, from the inside, or a fraction or root."""
        term = self.term(children[0])
        for number in order:
            if number < len(children):
                term = _Term(label or _SCRIPTS[number], [term, self.term(children[number])])
        return term

    def row(self, nodes: Sequence[Node]) -> _Term:
        """Return the term of nodes side by side."""
        if len(nodes) < 2:
            return self.term(nodes[0]) if nodes else _NOTHING
        if nodes[0].name == "mo" and nodes[-1].name == "mo":
            closing = _FENCES.get(nodes[0].text, ())
            if closing and nodes[-1].text in closing:
                return self.fenced(nodes)
        for reading in (self.sequence, self.relations, self.application, self.infix, self.affix):
            if term := reading(nodes):
                return term
        if self.has_invisible_signs:
            return self.fragments(nodes)
        return _Term("U!times", [self.term(node) for node in nodes])

    def fenced(self, nodes: Sequence[Node]) -> _Term:
        """Return the term of what is in brackets or bars."""
        opening, closing, inner = nodes[0].text, nodes[-1].text, nodes[1:-1]
        while len(inner) == 1 and inner[0].name == "mrow" and not inner[0].is_fenced:
            inner = inner[0].children
        parts = [self.row(part) for part in _split(inner, ",;") if part]
        if len(parts) > 1:
            if len(parts) == 2 and opening in "([" and closing in ")]":
                sides = f"{'OC'[opening == '[']}-{'OC'[closing == ']']}"
                return _Term(f"O!interval({sides})", parts)
            kind = {"(": "V", "{": "S"}.get(opening)
            label = f"M!{kind}-{len(parts)}" if kind else f"M!D-{opening}{closing}"
            return _Term(label, parts)
        if opening == "(" and closing == ")":
            return self.row(inner)
        if opening == "{" and closing == "}":
            halves = _split(inner, ":|∣", most=1)
            if len(halves) == 2:
                return _Term("O!conditional-set", [self.row(half) for half in halves])
            return _Term("M!S-1", parts)
        name = {"|": "abs", "∥": "norm", "||": "norm", "⌊": "floor", "⌈": "ceiling"}.get(opening)
        return _Term(operation(name) if name else f"M!D-{opening}{closing}", parts)

    def sequence(self, nodes: Sequence[Node]) -> _Term | None:
        """Return a list of terms or formulas between commas."""
        parts = [part for part in _split(nodes, ",;" + SEPARATES) if part]
        if len(parts) == 1 and len(parts[0]) < len(nodes):
            return self.row(parts[0])
        if len(parts) < 2:
            return None
        terms = [self.row(part) for part in parts]
        if any(_is_relation(node) for part in parts for node in _inner(part)):
            return _Term("O!form-seq", terms)
        return _Term(f"M!L-{len(terms)}", terms)

    def relations(self, nodes: Sequence[Node]) -> _Term | None:
        """Return a relation, or a conjunction in which the second has only its right side."""
        places = [n for n, node in enumerate(nodes) if _is_relation(node)]
        if not places:
            return None
        heads = [self.head(nodes[place]) for place in places]
        sides = [self.row(nodes[a + 1 : b]) for a, b in pairwise([-1, *places, len(nodes)])]
        first = _applied(heads[0], sides[:2])
        if len(heads) == 1:
            return first
        others = (
            _applied(*pair) for pair in zip(heads[1:], ([side] for side in sides[2:]), strict=True)
        )
        return _Term("U!and", [first, *others])

    def application(self, nodes: Sequence[Node]) -> _Term | None:
        """Return a function, a sum, an integral or a limit of what follows."""
        if nodes[1].is_sign(APPLIES):
            rest = [node for node in nodes[2:] if not node.is_sign(APPLIES)]
            if _sign(nodes[0]) in _LARGE:
                return _applied(self.term(nodes[0]), [self.row(rest)])
            return _applied(self.term(nodes[0]), self.arguments(rest))
        if nodes[0].is_sign("𝑑", "d") and len(nodes) == 2:
            return _Term("F!d", [self.term(nodes[1])])
        if _sign(nodes[0]) in _LARGE and not any(node.is_sign(*_SUMS) for node in nodes):
            return _applied(self.term(nodes[0]), [self.row(nodes[1:])])
        return None

    def arguments(self, nodes: Sequence[Node]) -> list[_Term]:
        """Return the arguments of a function: those between commas in round brackets, or one."""
        if len(nodes) == 1 and nodes[0].is_fenced and nodes[0].children[0].text == "(":
            return [self.row(part) for part in _split(nodes[0].children[1:-1], ",") if part]
        return [self.row(nodes)]

    def infix(self, nodes: Sequence[Node]) -> _Term | None:
        """Return the operation that binds least, from the left."""
        for names, others in _PRECEDENCE:
            places = [
                n
                for n, node in enumerate(nodes)
                if 0 < n < len(nodes) - 1 and ((sign := _sign(node)) in names or sign in others)
            ]
            if places:
                return self.chain(nodes, places)
        if len(nodes) == 3 and _sign(nodes[1]) is not None:
            return self.chain(nodes, [1])
        return None

    def chain(self, nodes: Sequence[Node], places: list[int]) -> _Term:
        """Return an operation of many operands, or nested operations, at some places."""
        heads = [self.head(nodes[place]) for place in places]
        operands = [self.row(nodes[a + 1 : b]) for a, b in pairwise([-1, *places, len(nodes)])]
        if heads[0].label[:2] in ("U!", "F!") and len({head.label for head in heads}) == 1:
            return _applied(heads[0], operands)
        term = operands[0]
        for head, operand in zip(heads, operands[1:], strict=True):
            is_same = (
                term.label == head.label and term.label.startswith("U!") and term is not operands[0]
            )
            first = term.operands if is_same else [term]
            term = _applied(head, [*first, operand])
        return term

    def affix(self, nodes: Sequence[Node]) -> _Term | None:
        """Return the operation of a sign before or after its operand."""
        first, last = nodes[0], nodes[-1]
        if first.name == "mo" and (first.text in _SUMS or first.text in _PREFIXES):
            return _Term(_leaf(first).label, [self.row(nodes[1:])])
        if last.is_sign("!"):
            return _Term("O!factorial", [self.row(nodes[:-1])])
        return None

    def head(self, node: Node) -> _Term:
        """Return the head of an operation: a sign, perhaps with scripts."""
        if node.name != "mo":
            return self.term(node)
        return _Term(operation(_SIGNS[node.text]) if node.text in _SIGNS else f"F!{node.text}")

    def fragments(self, nodes: Iterable[Node]) -> _Term:
        """Return what LaTeXML could not parse, as it does: a list of symbols."""
        return _Term("E!", [_Term("O!fragments"), *(self.fragment(node) for node in nodes)])

    def fragment(self, node: Node) -> _Term:
        """Return a part of what LaTeXML could not parse."""
        if node.name == "mi":
            return _Term(f"-!{node.text}")
        return self.fragments(node.children) if node.is_fenced else self.term(node)


_FENCES |= {"⌊": "⌋", "⌈": "⌉", "⟨": "⟩"}


def _leaf(node: Node) -> _Term:
    text = _SPELLED.get(node.text, node.text)
    if text in CONSTANTS:
        return _Term(operation(text))
    if node.name == "mi":
        return _Term(f"F!{text}" if text in FUNCTIONS else f"V!{_ITALIC.get(text, text)}")
    if node.name == "mo":
        return _Term(operation(_SIGNS[text]) if text in _SIGNS else f"V!{text}")
    if node.name == "qvar":
        return _Term(wildcard(text))
    return _Term({"mn": "N!", "mtext": "T!", "ms": "T!"}.get(node.name, "W!") + text)


def _sign(node: Node) -> str | None:
    """Return the sign of an operator or of the base of its scripts."""
    while node.children and node.name in _STRUCTURES and _STRUCTURES[node.name][0] in _SIGNED:
        node = node.children[0]
    return node.text if node.name == "mo" else None


def _is_relation(node: Node) -> bool:
    sign = _sign(node)
    return sign is not None and (sign in _RELATIONS or sign in _OTHER_RELATIONS)


def _inner(nodes: Sequence[Node]) -> Sequence[Node]:
    """Return the nodes of a part: those of its only row, if it is one."""
    return nodes[0].children if len(nodes) == 1 and nodes[0].name == "mrow" else nodes


def _split(nodes: Sequence[Node], signs: str, most: int = -1) -> list[list[Node]]:
    parts: list[list[Node]] = [[]]
    for node in nodes:
        if node.name == "mo" and node.text in signs and most:
            parts.append([])
            most -= 1
        else:
            parts[-1].append(node)
    return parts
