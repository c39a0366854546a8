"""From Presentation MathML to symbol layout trees (see `arqkit.retrieval.trees`)."""

from arqkit.retrieval.mathml import INVISIBLE, SCRIPTED, Node, read_mathml
from arqkit.retrieval.trees import Tree, wildcard

_EDGES = {
    "msub": "b",
    "msup": "a",
    "msubsup": "ba",
    "munder": "u",
    "mover": "o",
    "munderover": "uo",
    "mfrac": "ou",
    "binomial": "ou",
    "msqrt": "w",
    "mroot": "wc",
}
_TYPES = {"mi": "V!", "mn": "N!", "mo": "", "mtext": "T!", "ms": "T!"}
_LIMITS = str.maketrans("ba", "uo")
_CELLS = frozenset(["mtr", "mlabeledtr"])


def layout_tree(formula: str) -> Tree | None:
    """Return the symbol layout tree of MathML, or None if it is unreadable or shows nothing."""
    placed = _written(read_mathml(formula))
    return placed and placed[0]


def placed_layout_tree(formula: str) -> tuple[Tree, dict[int, tuple[int, ...]]] | None:
    """Return a layout tree, and for its nodes the places (`read_mathml`) of what shows them."""
    return _written(read_mathml(formula, has_places=True))


def _written(node: Node | None) -> tuple[Tree, dict[int, tuple[int, ...]]] | None:
    if node is None:
        return None
    tree = Tree([], [], [])
    writer = _Writer(tree)
    writer.put_row(node, -1, "n")
    return (tree, writer.places) if tree.labels else None


class _Writer:
    """Adds to a tree. The methods take where to add, a parent and an edge.

    They return the first and the last node of the writing line that they added, or None.
    """

    def __init__(self, tree: Tree) -> None:
        self._add = tree.add
        self.places: dict[int, tuple[int, ...]] = {}

    def put_row(self, node: Node, parent: int, edge: str) -> tuple[int, int] | None:
        """Add what a row shows, in which inner rows without brackets are not visible."""
        if node.name != "mrow" or node.is_fenced:
            return self._put(node, parent, edge)
        first = -1
        for child in node.children:
            if places := self.put_row(child, parent, edge):
                first = places[0] if first < 0 else first
                parent, edge = places[1], "n"
        return (first, parent) if first >= 0 else None

    def _put(self, node: Node, parent: int, edge: str) -> tuple[int, int] | None:
        name = node.name
        if name in _TYPES:
            if node.text in INVISIBLE:
                return None
            label = _TYPES[name] + node.text
        elif name in SCRIPTED:
            return self._put_scripted(node, parent, edge)
        elif name == "mrow":
            return self._put_fenced(node, parent, edge)
        elif name == "mtable":
            return self._put_table(node, "", parent, edge)
        else:
            return self._put_structure(node, parent, edge)
        place = self._add(label, parent, edge)
        self.places[place] = (node.place,)
        return place, place

    def _put_structure(self, node: Node, parent: int, edge: str) -> tuple[int, int] | None:
        name, children = node.name, node.children
        if name in ("mfrac", "binomial"):
            label = "O!divide"
        elif name in ("msqrt", "mroot"):
            label = "O!root"
            children = children if name == "mroot" else [Node("mrow", "", children)]
        elif name == "merror":
            label, children = "E!", []
        elif name == "qvar":
            label = wildcard(node.text)
        elif name == "menclose":
            label, children = "box", [Node("mrow", "", children)]
        else:
            return self.put_row(Node("mrow", "", children), parent, edge) if children else None
        place = self._add(label, parent, edge)
        self.places[place] = (node.place,)
        for inner, child in zip(_EDGES.get(name, "w"), children, strict=False):
            self.put_row(child, place, inner)
        return place, place

    def _put_scripted(self, node: Node, parent: int, edge: str) -> tuple[int, int] | None:
        """Add a base and its scripts; those of operators are limits, over and under them."""
        if not node.children:
            return None
        base, edges = node.children[0], _EDGES[node.name]
        if base.name == "mo":
            edges = edges.translate(_LIMITS)
        if base.name == "mrow" and not base.is_fenced:
            place = self._add("M!1x1" if base.children else "W!", parent, edge)
            self.put_row(base, place, "w")
            first = place
        else:
            places = self._put(base, parent, edge)
            if places is None:
                place = self._add("W!", parent, edge)
                places = place, place
            first, place = places
        for inner, script in zip(edges, node.children[1:], strict=False):
            self.put_row(script, place, inner)
        return first, place

    def _put_fenced(self, node: Node, parent: int, edge: str) -> tuple[int, int]:
        """Add brackets: a node with the elements between commas, each with its comma."""
        opening, *inner, closing = node.children
        fence = opening.text + closing.text
        brackets = opening.place, closing.place
        if len(inner) == 1 and inner[0].name == "mtable":
            places = self._put_table(inner[0], fence, parent, edge)
            self.places[places[0]] = brackets
            return places
        elements: list[list[Node]] = [[]]
        for child in _visible(inner):
            elements[-1].append(child)
            if child.is_sign(","):
                elements.append([])
        if not elements[-1]:
            elements.pop()
        place = self._add(f"M!{fence}1x{max(len(elements), 1)}", parent, edge)
        self.places[place] = brackets
        self._put_elements([Node("mrow", "", element) for element in elements], place)
        return place, place

    def _put_table(self, node: Node, fence: str, parent: int, edge: str) -> tuple[int, int]:
        rows = [line.children for line in node.children if line.name in _CELLS]
        width = max(map(len, rows), default=0)
        place = self._add(f"M!{fence}{len(rows)}x{width}", parent, edge)
        cells = [Node("mrow", "", cell.children) for line in rows for cell in line]
        self._put_elements(cells, place)
        return place, place

    def _put_elements(self, elements: list[Node], parent: int) -> None:
        edge = "w"
        for element in elements:
            places = self.put_row(element, parent, edge)
            parent = places[0] if places else self._add("W!", parent, edge)
            edge = "e"


def _visible(nodes: list[Node]) -> list[Node]:
    """Return the nodes of a row and of its inner rows without brackets."""
    out: list[Node] = []
    for node in nodes:
        if node.name == "mrow" and not node.is_fenced:
            out += _visible(node.children)
        else:
            out.append(node)
    return out
