"""Formulas as trees: symbol layout trees (SLT) and operator trees (OPT) in Tangent-S's form.

A label has a type and a text: `V!x` a variable, `N!2` a number, `T!if` text, `M!()1x2` brackets or
a table and its size, `O!divide` an operation, `U!plus` one whose operands have no order, `F!sin` a
function, `C!infinity` a constant, `W!` nothing, `E!` an error, `?!x` a wildcard; other labels of
layout trees are signs. An edge is a letter: in layout trees `n` next, `a` above, `b` below, `o`
over, `u` under, `c` before and above, `w` within and `e` the next element; in operator trees the
number of the operand (000 §3.2; Tangent-S: Davila and Zanibbi, SIGIR 2017).
"""

from typing import NamedTuple


class Tree(NamedTuple):
    """A tree in an order where parents come first; the root is node 0, and its parent is -1."""

    labels: list[str]
    parents: list[int]
    edges: list[str]

    def add(self, label: str, parent: int, edge: str) -> int:
        """Add a node and return its number."""
        self.labels.append(label)
        self.parents.append(parent)
        self.edges.append(edge)
        return len(self.labels) - 1


def wildcard(name: str) -> str:
    """Return the label of a wildcard; wildcards of one name stand for equal subtrees."""
    return f"?!{name}"
