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

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arqkit.extras import needs_extra

with needs_extra("retrieval"):
    from numba import njit, prange

Ints = NDArray[np.int32]
Bytes = NDArray[np.uint8]
Reals = NDArray[np.float64]

NO_KIND, LETTER, NAME, WILDCARD, UNORDERED = 0, 1, 2, 3, 4
_KINDS = {"N!": 5, "T!": 6, "F!": 7, "+!": 8, "-!": 9, "?!": WILDCARD, "U!": UNORDERED}
_BRACKETS, _LISTS = 10, 32
NEXT = ord("n")


def kind_of(label: str) -> int:
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
    sizes = trees.starts[candidates + 1] - trees.starts[candidates]
    largest = int(sizes.max(initial=0))
    return _align_all(*query, *trees, candidates, largest)  # type: ignore[no-any-return]


def matched_nodes(query: Nodes, trees: Trees, candidate: int) -> Bytes:
    """Return for each node of a candidate whether the best walk matched it: 2 equal, 1 by type."""
    size = int(trees.starts[candidate + 1] - trees.starts[candidate])
    marks = np.zeros(size, np.uint8)
    chosen = np.array([candidate], np.int32)
    _align_some(*query, *trees, chosen, 0, 1, size, np.zeros((1, 3)), marks)
    return marks


# Below, arrays of the query begin with q_, and those of a candidate with c_. A node's children are
# linked: its first child, and the next sibling of each. `pairs` holds the walk: the two nodes, the
# number of the parent's pair, whether they match, and the end of what a wildcard matches.
_CHUNKS = 16


@njit(cache=True, parallel=True)
def _align_all(
    q_labels, q_kinds, q_parents, q_edges, labels, parents, edges, starts, kinds, candidates, largest
):
    out = np.zeros((len(candidates), 3))
    for chunk in prange(_CHUNKS):
        _align_some(
            q_labels, q_kinds, q_parents, q_edges, labels, parents, edges, starts, kinds,
            candidates, chunk, _CHUNKS, largest, out, np.zeros(0, np.uint8),
        )  # fmt: skip
    return out


@njit(cache=True)
def _align_some(
    q_labels, q_kinds, q_parents, q_edges, labels, parents, edges, starts, kinds, candidates,
    first, step, largest, out, marks,
):  # fmt: skip
    """Align every `step`th candidate from the `first`; mark the nodes of one if `marks` is given."""
    nodes = len(q_labels)
    q_first, q_following, q_extents, q_depths = _links(nodes)
    c_first, c_following, c_extents, c_depths = _links(largest)
    _link(q_parents, q_first, q_following, q_extents, q_depths)
    seen = np.zeros((nodes, largest), np.int32)
    sizes = np.zeros((nodes, largest), np.int32)
    pairs, groups = np.empty((nodes + 1, 5), np.int32), np.empty((nodes + 1, 4), np.int32)
    options = np.empty((nodes * largest + 1, 3), np.int32)
    is_plain = not (q_kinds == WILDCARD).any()
    for number in range(first, len(candidates), step):
        begin, end = starts[candidates[number]], starts[candidates[number] + 1]
        c_labels, c_parents, c_edges = labels[begin:end], parents[begin:end], edges[begin:end]
        c_kinds, size, stamp = kinds[c_labels], end - begin, number + 1
        _link(c_parents, c_first, c_following, c_extents, c_depths)
        _fill_sizes(
            q_labels, q_kinds, q_edges, q_first, q_following, q_depths,
            c_labels, c_kinds, c_edges, c_first, c_following, c_depths, sizes, options,
        )  # fmt: skip
        best, precise, equal = 0.0, 0.0, 0.0
        for q in range(nodes):
            q_label, q_kind, q_extent = q_labels[q], q_kinds[q], q_extents[q]
            has_kind = q_kind != NO_KIND and q_kind != UNORDERED
            for c in range(size):
                if not (
                    q_label == c_labels[c]
                    or (has_kind and (q_kind == c_kinds[c] or q_kind == WILDCARD))
                ):
                    continue
                most = min(q_extent, c_extents[c])
                if seen[q, c] == stamp or _harmonic(most, most - 1, nodes) < best:
                    continue
                count = _walk(
                    q_labels, q_kinds, q_edges, q_first, q_following,
                    c_labels, c_kinds, c_edges, c_first, c_following, c_extents,
                    sizes, options, pairs, q, c,
                )  # fmt: skip
                _unify(q_labels, q_kinds, c_labels, pairs, groups, count)
                if not is_plain:
                    _bind(q_labels, q_kinds, c_labels, c_parents, pairs, count)
                scores = _scores(q_labels, q_kinds, c_labels, pairs, count, seen, stamp)
                share, names = min(1.0, scores[1] / size), scores[2] / nodes
                if (scores[0], share, names) > (best, precise, equal):
                    best, precise, equal = scores[0], share, names
                    if len(marks):
                        _mark(q_labels, q_kinds, c_labels, pairs, count, marks)
        out[number, 0], out[number, 1], out[number, 2] = best, precise, equal


@njit(cache=True)
def _links(size):
    return (
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
    )


@njit(cache=True)
def _link(parents, first, following, extents, depths):
    """Fill the first child, the next sibling, the size of the subtree and the depth of each node."""
    for node in range(len(parents)):
        first[node], following[node], extents[node] = -1, -1, 1
        depths[node] = depths[parents[node]] + 1 if node else 0
    for node in range(len(parents) - 1, 0, -1):
        parent = parents[node]
        following[node], first[parent] = first[parent], node
        extents[parent] += extents[node]


@njit(cache=True, inline="always")
def _matches(q_label, q_kind, c_label, c_kind):
    return q_label == c_label or (
        q_kind != NO_KIND and q_kind != UNORDERED and (q_kind == c_kind or q_kind == WILDCARD)
    )


@njit(cache=True)
def _harmonic(matched, edges, nodes):
    """Return the harmonic mean of node and edge recall; half an edge counts where none matches."""
    if matched == 0:
        return 0.0
    recall = matched / nodes
    of_edges = max(edges, 0.5) / (nodes - 1) if nodes > 1 else 1.0
    return 2 * recall * of_edges / (recall + of_edges)


@njit(cache=True)
def _fill_sizes(
    q_labels, q_kinds, q_edges, q_first, q_following, q_depths,
    c_labels, c_kinds, c_edges, c_first, c_following, c_depths, sizes, options,
):  # fmt: skip
    """Fill the number of matching pairs below pairs of nodes, without consistency.

    It is needed only below operations without order that both trees have, and there only for nodes
    that are equally far below them.
    """
    deepest = c_depths[: len(c_labels)].max()
    is_needed = np.zeros(q_depths.max() + deepest + 1, np.bool_)
    is_any = False
    for q in range(len(q_labels)):
        if q_kinds[q] == UNORDERED:
            for c in range(len(c_labels)):
                if c_labels[c] == q_labels[q]:
                    is_needed[q_depths[q] - c_depths[c] + deepest] = is_any = True
    if not is_any:
        return
    for q in range(len(q_labels) - 1, -1, -1):
        for c in range(len(c_labels) - 1, -1, -1):
            if not is_needed[q_depths[q] - c_depths[c] + deepest]:
                continue
            total = int(_matches(q_labels[q], q_kinds[q], c_labels[c], c_kinds[c]))
            if q_first[q] >= 0 and c_first[c] >= 0:
                count = _children(
                    q_labels, q_kinds, q_edges, q_first, q_following,
                    c_labels, c_kinds, c_edges, c_first, c_following, sizes, options, q, c,
                )  # fmt: skip
                for number in range(count):
                    total += sizes[options[number, 0], options[number, 1]]
            sizes[q, c] = total


@njit(cache=True)
def _children(
    q_labels, q_kinds, q_edges, q_first, q_following,
    c_labels, c_kinds, c_edges, c_first, c_following, sizes, options, q, c,
):  # fmt: skip
    """Write the pairs of children of two nodes to the options; return how many there are."""
    if q_kinds[q] == UNORDERED and q_labels[q] == c_labels[c]:
        count = 0
        x = q_first[q]
        while x >= 0:
            y = c_first[c]
            while y >= 0:
                if sizes[x, y] > 0:
                    match = _matches(q_labels[x], q_kinds[x], c_labels[y], c_kinds[y])
                    options[count, 0], options[count, 1] = x, y
                    options[count, 2] = 2 * sizes[x, y] + match
                    count += 1
                y = c_following[y]
            x = q_following[x]
        return _greedy(options, count)
    if q_kinds[q] == WILDCARD:
        return _after_wildcard(
            q_labels, q_kinds, q_edges, q_first, q_following,
            c_labels, c_kinds, c_edges, c_first, c_following, options, q, c,
        )  # fmt: skip
    count = 0
    x = q_first[q]
    while x >= 0:
        y, edge = c_first[c], q_edges[x]
        while y >= 0:
            if c_edges[y] == edge:
                options[count, 0], options[count, 1] = x, y
                count += 1
                break
            y = c_following[y]
        x = q_following[x]
    return count


@njit(cache=True)
def _greedy(options, count):
    """Pair operands without order: the pairs with most in common first, then those that match."""
    chosen = 0
    while chosen < count:
        top = chosen
        for number in range(chosen + 1, count):
            if options[number, 2] > options[top, 2]:
                top = number
        x, y = options[top, 0], options[top, 1]
        kept = chosen + 1
        for number in range(count - 1, chosen - 1, -1):  # shift, so that the order is kept
            if number < top:
                options[number + 1] = options[number]
        options[chosen, 0], options[chosen, 1] = x, y
        for number in range(chosen + 1, count):
            if options[number, 0] != x and options[number, 1] != y:
                options[kept] = options[number]
                kept += 1
        chosen, count = chosen + 1, kept
    return chosen


@njit(cache=True)
def _next_of(c_edges, c_first, c_following, c):
    y = c_first[c]
    while y >= 0 and c_edges[y] != NEXT:
        y = c_following[y]
    return y


@njit(cache=True)
def _after_wildcard(
    q_labels, q_kinds, q_edges, q_first, q_following,
    c_labels, c_kinds, c_edges, c_first, c_following, options, q, c,
):  # fmt: skip
    """Pair what follows a wildcard with the first symbol on the line that matches it."""
    count, last = 0, c
    follower = _next_of(q_edges, q_first, q_following, q)
    if follower >= 0:
        y = _next_of(c_edges, c_first, c_following, c)
        while y >= 0 and not _matches(
            q_labels[follower], q_kinds[follower], c_labels[y], c_kinds[y]
        ):
            last, y = y, _next_of(c_edges, c_first, c_following, y)
        if y >= 0:
            options[0, 0], options[0, 1] = follower, y
            count = 1
    x = q_first[q]
    while x >= 0:
        y = c_first[last]
        while y >= 0 and q_edges[x] != NEXT:
            if c_edges[y] == q_edges[x]:
                options[count, 0], options[count, 1] = x, y
                count += 1
            y = c_following[y]
        x = q_following[x]
    return count


@njit(cache=True)
def _walk(
    q_labels, q_kinds, q_edges, q_first, q_following,
    c_labels, c_kinds, c_edges, c_first, c_following, c_extents, sizes, options, pairs, q, c,
):  # fmt: skip
    """Write the pairs that a walk visits; return how many there are."""
    pairs[0, 0], pairs[0, 1], pairs[0, 2] = q, c, -1
    count, done = 1, 0
    while done < count:
        x, y = pairs[done, 0], pairs[done, 1]
        pairs[done, 3] = _matches(q_labels[x], q_kinds[x], c_labels[y], c_kinds[y])
        pairs[done, 4] = y + c_extents[y]
        if q_first[x] >= 0 and c_first[y] >= 0:
            chosen = _children(
                q_labels, q_kinds, q_edges, q_first, q_following,
                c_labels, c_kinds, c_edges, c_first, c_following, sizes, options, x, y,
            )  # fmt: skip
            for number in range(chosen):
                pairs[count, 0], pairs[count, 1] = options[number, 0], options[number, 1]
                pairs[count, 2] = done
                if q_kinds[x] == WILDCARD:
                    pairs[done, 4] = min(pairs[done, 4], options[number, 1])
                count += 1
        done += 1
    return count


@njit(cache=True)
def _unify(q_labels, q_kinds, c_labels, pairs, groups, count):
    """Keep the matches of variables that are consistent with each other."""
    total = 0
    for number in range(count):
        kind = q_kinds[pairs[number, 0]]
        if (kind == LETTER or kind == NAME) and pairs[number, 3]:
            name, label = q_labels[pairs[number, 0]], c_labels[pairs[number, 1]]
            group = 0
            while group < total and (groups[group, 0] != name or groups[group, 1] != label):
                group += 1
            if group == total:
                groups[group, 0], groups[group, 1], groups[group, 2] = name, label, 0
                total += 1
            groups[group, 2] += 1
    if total < 2:
        return
    _choose(groups, total)
    for number in range(count):
        kind = q_kinds[pairs[number, 0]]
        if (kind == LETTER or kind == NAME) and pairs[number, 3]:
            name, label = q_labels[pairs[number, 0]], c_labels[pairs[number, 1]]
            for group in range(total):
                if groups[group, 0] == name and groups[group, 1] == label:
                    pairs[number, 3] = groups[group, 3]


@njit(cache=True)
def _choose(groups, total):
    """Choose one-to-one among pairs of names: by count, equality and labels, descending."""
    for group in range(total):
        groups[group, 3] = -1
    for _ in range(total):
        top = -1
        for group in range(total):
            if groups[group, 3] < 0 and (top < 0 or _precedes(groups[group], groups[top])):
                top = group
        is_free = 1
        for group in range(total):
            if groups[group, 3] == 1 and (
                groups[group, 0] == groups[top, 0] or groups[group, 1] == groups[top, 1]
            ):
                is_free = 0
        groups[top, 3] = is_free


@njit(cache=True)
def _precedes(a, b):
    if a[2] != b[2]:
        return a[2] > b[2]
    if (a[0] == a[1]) != (b[0] == b[1]):
        return a[0] == a[1]
    return a[0] > b[0] if a[0] != b[0] else a[1] > b[1]


@njit(cache=True)
def _bind(q_labels, q_kinds, c_labels, c_parents, pairs, count):
    """Take the match of a wildcard back if one of its name matched another subtree."""
    for number in range(count):
        if q_kinds[pairs[number, 0]] != WILDCARD:
            continue
        begin, length = pairs[number, 1], pairs[number, 4] - pairs[number, 1]
        for other in range(number):
            if q_labels[pairs[other, 0]] != q_labels[pairs[number, 0]] or not pairs[other, 3]:
                continue
            start = pairs[other, 1]
            is_equal = pairs[other, 4] - start == length
            for place in range(length if is_equal else 0):
                is_equal = is_equal and c_labels[start + place] == c_labels[begin + place]
                if place:
                    up = c_parents[start + place] - start == c_parents[begin + place] - begin
                    is_equal = is_equal and up
            if not is_equal:
                pairs[number, 3] = 0


@njit(cache=True)
def _scores(q_labels, q_kinds, c_labels, pairs, count, seen, stamp):
    """Return the first score of a walk and its matching and equal nodes; note them as seen."""
    matched, equal, edges, absorbed = 0, 0, 0, 0
    for number in range(count):
        if not pairs[number, 3]:
            continue
        q, c, parent = pairs[number, 0], pairs[number, 1], pairs[number, 2]
        seen[q, c] = stamp
        matched += 1
        edges += parent >= 0 and pairs[parent, 3] == 1
        if q_kinds[q] == WILDCARD:
            equal += 1
            absorbed += pairs[number, 4] - c - 1
        else:
            equal += q_labels[q] == c_labels[c]
    return _harmonic(matched, edges, len(q_labels)), matched + absorbed, equal


@njit(cache=True)
def _mark(q_labels, q_kinds, c_labels, pairs, count, marks):
    marks[:] = 0
    for number in range(count):
        q, c = pairs[number, 0], pairs[number, 1]
        if not pairs[number, 3]:
            continue
        if q_kinds[q] == WILDCARD:
            marks[c : pairs[number, 4]] = 2
        else:
            marks[c] = 2 if q_labels[q] == c_labels[c] else 1
