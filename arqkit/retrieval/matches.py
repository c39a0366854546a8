"""The symbols of a typeset formula that match a query, marked for its readers."""

from collections.abc import Iterable

from arqkit.formulas.layout import MATH, TOKEN
from arqkit.retrieval.forest import Forest, ForestPart
from arqkit.retrieval.formulas import LARGEST_TREE, trees_of
from arqkit.retrieval.layout_trees import placed_layout_tree
from arqkit.retrieval.trees import Tree

CLASSES = {1: "is-alike", 2: "is-same"}
"""The classes of a symbol of the same type, such as another variable, and of an equal symbol."""


def with_matches(mathml: str, queries: Iterable[str]) -> str:
    """Return typeset MathML whose elements that match a query have a class of `CLASSES`.

    The alignment of layout trees decides (`arqkit.retrieval.alignment`), for the query with most
    matches; queries are typeset as well, so that copies have equal trees. A class stands on leaves,
    and on fractions and roots for their lines.
    """
    start, placed = MATH.match(mathml), placed_layout_tree(mathml)
    if start is None or placed is None or len(placed[0].labels) > LARGEST_TREE:
        return mathml
    marks = _marks(placed[0], queries)
    classes = {
        place: CLASSES[mark]
        for node, places in placed[1].items()
        for place in places
        if (mark := marks[node])
    }
    tokens = enumerate(TOKEN.findall(mathml, start.end()))
    return start[0] + "".join(_with_class(token, classes.get(n, "")) for n, token in tokens)


def _marks(tree: Tree, queries: Iterable[str]) -> list[int]:
    """Return for each node whether it matches: 2 equal, 1 by its type, 0 not."""
    part = ForestPart({}, {})
    part.add(tree)
    forest = Forest.build(part)
    layouts = [layout for query in queries if (layout := trees_of(query)[0])]
    marks = [forest.matched(forest.query(layout), 0).tolist() for layout in layouts]
    return max([[0] * len(tree.labels), *marks], key=sum)


def _with_class(token: str, name: str) -> str:
    """Return a tag, or a leaf, with one more class in its start tag."""
    if not name:
        return token
    tag, end, rest = token.partition(">")
    if ' class="' in tag:
        return tag.replace(' class="', f' class="{name} ', 1) + end + rest
    return f'{tag} class="{name}"{end}{rest}'
