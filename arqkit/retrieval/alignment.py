"""Structural alignment of a query's tree with candidates: the second stage of Tangent-S.

From each pair of nodes that match, both trees are walked together along equal edges, also through
nodes that do not match; operands of an operation without order are paired greedily by the size of
what they have in common. Nodes match if their labels are equal or of one type: variables of one
letter or of several, numbers, text, functions, brackets, lists of one kind. Variables match
consistently: each of the query stands for one of the candidate and vice versa, chosen by the number
of pairs, then equal names, then by label. A pair that an earlier walk matched starts no walk.

Three scores of the best walk are compared in this order (Davila and Zanibbi, SIGIR 2017, §3.3):
the harmonic mean of the shares of the query's nodes and edges that match (half an edge counts where
none does), the share of the candidate's nodes that match, and the share of the query's nodes whose
label is equal. The rules were derived from the scores that the organizers published with the judged
formulas of ARQMath-1.

A wildcard of the query matches any subtree; in layout trees, any run of symbols on a line up to the
first that matches what follows the wildcard. Wildcards of one name match equal subtrees.
"""

from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]
Bytes = NDArray[np.uint8]
Reals = NDArray[np.float64]

NO_KIND, LETTER, NAME, WILDCARD, UNORDERED = range(5)
_KINDS = {"N!": 5, "T!": 6, "F!": 7, "+!": 8, "-!": 9, "?!": WILDCARD, "U!": UNORDERED}
# The first numbers above the kinds; a list adds the number of its letter.
_BRACKETS, _LISTS = 10, 32

_ALONE = Lock()  # numba's own pool of threads ends the process when a second thread uses it


def type_of_label(label: str) -> int:
    """Return the type of a label: labels of one type match, but for 0 and operations."""
    if label.startswith("V!"):
        return LETTER if len(label) == len("V!x") else NAME
    if label.startswith("M!"):
        is_list = len(label) > 3 and label[2].isascii() and label[2].isupper() and label[3] in "-!"
        return _LISTS + ord(label[2]) if is_list else _BRACKETS
    return _KINDS.get(label[:2], NO_KIND)


class Nodes(NamedTuple):
    """The nodes of one tree: ids and types of labels, parents, and edges as character codes.

    Labels that the vocabulary of the index lacks have negative ids; of two variables of a query,
    the one with the greater label has the greater id.
    """

    labels: Ints
    kinds: Bytes
    parents: Ints
    edges: Bytes


class Trees(NamedTuple):
    """Many trees: the nodes of all, in order; those of tree n begin at `starts[n]`.

    `kinds` is by label id.
    """

    labels: Ints
    parents: Ints
    edges: Bytes
    starts: NDArray[np.int64]
    kinds: Bytes


def align(query: Nodes, trees: Trees, candidates: Ints) -> Reals:
    """Return the three scores of each candidate, one row each."""
    from arqkit.retrieval.walks import align_all, rows_of

    sizes = trees.starts[candidates + 1] - trees.starts[candidates]
    largest = int(sizes.max(initial=0))
    with _ALONE:
        return align_all(rows_of(*query), trees, candidates, largest)  # type: ignore[no-any-return]


def matched_nodes(query: Nodes, trees: Trees, candidate: int) -> Bytes:
    """Return for each node of a candidate whether the best walk matched it: 2 equal, 1 by type."""
    from arqkit.retrieval.walks import align_some, rows_of

    size = int(trees.starts[candidate + 1] - trees.starts[candidate])
    marks, scores = np.zeros(size, np.uint8), np.zeros((1, 3))
    candidates = np.array([candidate], np.int32)
    align_some(rows_of(*query), trees, candidates, 0, 1, size, scores, marks)
    return marks
