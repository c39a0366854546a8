"""The compiled walks of structural alignment (see `arqkit.retrieval.alignment`).

A tree is an array with a row for each node and the columns below. A node's children are linked: the
first child, and the next sibling of each; an extent is the size of a subtree. A walk has a row for
each pair of nodes that it visits: the two nodes, the row of the pair above, whether they match, and
the end of what a wildcard matches.

Compiled because a query is aligned with thousands of trees node by node, which no operation on
whole arrays does.
"""

import numpy as np

from arqkit.extras import needs_extra
from arqkit.retrieval.alignment import LETTER, NAME, NO_KIND, UNORDERED, WILDCARD

with needs_extra("retrieval"):
    from numba import njit, prange

NEXT = ord("n")
LABEL, KIND, PARENT, EDGE, FIRST, FOLLOWING, EXTENT, DEPTH = range(8)
QUERY, CANDIDATE, ABOVE, IS_MATCH, END = range(5)
COMMON = ABOVE  # in the choice of operands: what the nodes have in common
_CHUNKS = 8  # parts that the processors share


@njit(cache=True)
def rows_of(labels, kinds, parents, edges):
    """Return the rows of a query's nodes."""
    rows = np.zeros((len(labels), 8), np.int32)
    rows[:, LABEL], rows[:, KIND] = labels, kinds
    rows[:, PARENT], rows[:, EDGE] = parents, edges
    _link(rows, len(rows))
    return rows


@njit(cache=True, parallel=True)
def align_all(query, trees, candidates, largest):
    """Return the three scores of each candidate; `largest` is the size of the largest."""
    out = np.zeros((len(candidates), 3))
    for chunk in prange(_CHUNKS):
        align_some(query, trees, candidates, chunk, _CHUNKS, largest, out, np.zeros(0, np.uint8))
    return out


@njit(cache=True)
def align_some(query, trees, candidates, first, step, largest, out, marks):
    """Align every `step`th candidate from the `first`; with `marks`, mark the nodes of one."""
    nodes = len(query)
    rows = np.zeros((largest, 8), np.int32)
    seen, sizes = np.zeros((nodes, largest), np.int32), np.zeros((nodes, largest), np.int32)
    groups = np.empty((nodes + 1, 4), np.int32)
    pairs = np.empty((nodes * (largest + 1) + 1, 5), np.int32)
    needed = np.zeros((nodes, largest), np.int32)
    harmonic = _harmonic_means(nodes)
    is_plain = not (query[:, KIND] == WILDCARD).any()
    has_unordered = (query[:, KIND] == UNORDERED).any()
    for number in range(first, len(candidates), step):
        size, stamp = _read(trees, candidates[number], rows), number + 1
        if has_unordered:
            _fill_sizes(query, rows, size, sizes, needed, stamp, pairs)
        best, precise, equal = 0.0, 0.0, 0.0
        for q in range(nodes):
            label, kind, extent = query[q, LABEL], query[q, KIND], query[q, EXTENT]
            has_kind = kind != NO_KIND and kind != UNORDERED
            for c in range(size):
                if label != rows[c, LABEL] and not (
                    has_kind and (kind == rows[c, KIND] or kind == WILDCARD)
                ):
                    continue
                most = min(extent, rows[c, EXTENT])
                if seen[q, c] == stamp or harmonic[most, most - 1] < best:
                    continue
                count, matched, joined = _walk(query, rows, sizes, pairs, q, c)
                if harmonic[matched, joined] < best:
                    # Nor can a walk from one of its pairs, which visits a part of them, be better.
                    for pair in range(count):
                        seen[pairs[pair, QUERY], pairs[pair, CANDIDATE]] = stamp
                    continue
                _unify(query, rows, pairs, groups, count)
                if not is_plain:
                    _bind(query, rows, pairs, count)
                matched, joined, absorbed, same = _counts(query, rows, pairs, count, seen, stamp)
                score = harmonic[matched, joined]
                share, names = min(1.0, (matched + absorbed) / size), same / nodes
                if (score, share, names) > (best, precise, equal):
                    best, precise, equal = score, share, names
                    if len(marks):
                        _mark(query, rows, pairs, count, marks)
        out[number, 0], out[number, 1], out[number, 2] = best, precise, equal


@njit(cache=True)
def _harmonic_means(nodes):
    """Return the harmonic means of node and edge recall, by matching nodes and edges.

    Half an edge counts where none matches.
    """
    out = np.zeros((nodes + 1, nodes + 1))
    for matched in range(1, nodes + 1):
        recall = matched / nodes
        for edges in range(nodes):
            of_edges = max(edges, 0.5) / (nodes - 1) if nodes > 1 else 1.0
            out[matched, edges] = 2 * recall * of_edges / (recall + of_edges)
    return out


@njit(cache=True)
def _read(trees, number, rows):
    """Write the rows of a tree; return how many there are."""
    begin = trees.starts[number]
    size = trees.starts[number + 1] - begin
    for node in range(size):
        label = trees.labels[begin + node]
        rows[node, LABEL], rows[node, KIND] = label, trees.kinds[label]
        rows[node, PARENT] = trees.parents[begin + node]
        rows[node, EDGE] = trees.edges[begin + node]
    _link(rows, size)
    return size


@njit(cache=True)
def _link(rows, size):
    """Fill the first child, the next sibling, the extent and the depth of each node."""
    for node in range(size):
        rows[node, FIRST], rows[node, FOLLOWING], rows[node, EXTENT] = -1, -1, 1
        rows[node, DEPTH] = rows[rows[node, PARENT], DEPTH] + 1 if node else 0
    for node in range(size - 1, 0, -1):
        parent = rows[node, PARENT]
        rows[node, FOLLOWING], rows[parent, FIRST] = rows[parent, FIRST], node
        rows[parent, EXTENT] += rows[node, EXTENT]


@njit(cache=True, inline="always")
def _matches(query, rows, q, c):
    kind = query[q, KIND]
    return query[q, LABEL] == rows[c, LABEL] or (
        kind != NO_KIND and kind != UNORDERED and (kind == rows[c, KIND] or kind == WILDCARD)
    )


@njit(cache=True)
def _fill_sizes(query, rows, size, sizes, needed, stamp, pairs):
    """Fill the number of matching pairs below pairs of nodes, without consistency.

    It is needed only for operands of operations without order that both trees have, and below them
    along equal edges.
    """
    lowest = -1
    for q in range(1, len(query)):
        above, edge = query[q, PARENT], query[q, EDGE]
        is_unordered = query[above, KIND] == UNORDERED
        for c in range(1, size):
            over = rows[c, PARENT]
            is_below = needed[above, over] == stamp and rows[c, EDGE] == edge
            if is_below or (is_unordered and query[above, LABEL] == rows[over, LABEL]):
                needed[q, c] = stamp
                lowest = q
    for q in range(lowest, 0, -1):
        is_leaf = query[q, FIRST] < 0
        for c in range(size - 1, 0, -1):
            if needed[q, c] != stamp:
                continue
            total = int(_matches(query, rows, q, c))
            if not is_leaf and rows[c, FIRST] >= 0:
                for number in range(_children(query, rows, sizes, pairs, 0, q, c)):
                    total += sizes[pairs[number, QUERY], pairs[number, CANDIDATE]]
            sizes[q, c] = total


@njit(cache=True)
def _children(query, rows, sizes, out, place, q, c):
    """Write the pairs of children of two nodes from a place of `out` on; return the place after."""
    kind = query[q, KIND]
    if kind == WILDCARD:
        return _after_wildcard(query, rows, out, place, q, c)
    if kind == UNORDERED and query[q, LABEL] == rows[c, LABEL]:
        return _greedy(query, rows, sizes, out, place, q, c)
    x = query[q, FIRST]
    while x >= 0:
        y, edge = rows[c, FIRST], query[x, EDGE]
        while y >= 0:
            if rows[y, EDGE] == edge:
                out[place, QUERY], out[place, CANDIDATE] = x, y
                place += 1
                break
            y = rows[y, FOLLOWING]
        x = query[x, FOLLOWING]
    return place


@njit(cache=True)
def _greedy(query, rows, sizes, out, place, q, c):
    """Pair operands without order: the pairs with most in common first, then those that match."""
    end = place
    x = query[q, FIRST]
    while x >= 0:
        y = rows[c, FIRST]
        while y >= 0:
            if sizes[x, y] > 0:
                out[end, QUERY], out[end, CANDIDATE] = x, y
                out[end, COMMON] = 2 * sizes[x, y] + _matches(query, rows, x, y)
                end += 1
            y = rows[y, FOLLOWING]
        x = query[x, FOLLOWING]
    while place < end:
        top = place
        for number in range(place + 1, end):
            if out[number, COMMON] > out[top, COMMON]:
                top = number
        x, y = out[top, QUERY], out[top, CANDIDATE]
        for number in range(top, place, -1):  # shifts, so that the order is kept
            for column in range(COMMON + 1):
                out[number, column] = out[number - 1, column]
        out[place, QUERY], out[place, CANDIDATE] = x, y
        place += 1
        free_place = place
        for number in range(place, end):
            if out[number, QUERY] != x and out[number, CANDIDATE] != y:
                for column in range(COMMON + 1):
                    out[free_place, column] = out[number, column]
                free_place += 1
        end = free_place
    return place


@njit(cache=True)
def _next_of(rows, c):
    y = rows[c, FIRST]
    while y >= 0 and rows[y, EDGE] != NEXT:
        y = rows[y, FOLLOWING]
    return y


@njit(cache=True)
def _after_wildcard(query, rows, out, place, q, c):
    """Pair what follows a wildcard with the first symbol on the line that matches it."""
    last, follower = c, _next_of(query, q)
    if follower >= 0:
        y = _next_of(rows, c)
        while y >= 0 and not _matches(query, rows, follower, y):
            last, y = y, _next_of(rows, y)
        if y >= 0:
            out[place, QUERY], out[place, CANDIDATE] = follower, y
            place += 1
    x = query[q, FIRST]
    while x >= 0:
        y = rows[last, FIRST]
        while y >= 0 and query[x, EDGE] != NEXT:
            if rows[y, EDGE] == query[x, EDGE]:
                out[place, QUERY], out[place, CANDIDATE] = x, y
                place += 1
            y = rows[y, FOLLOWING]
        x = query[x, FOLLOWING]
    return place


@njit(cache=True)
def _walk(query, rows, sizes, pairs, q, c):
    """Write the pairs that a walk visits; return how many there are, match, and have an edge."""
    pairs[0, QUERY], pairs[0, CANDIDATE], pairs[0, ABOVE] = q, c, -1
    count, done, matched, joined = 1, 0, 0, 0
    while done < count:
        x, y = pairs[done, QUERY], pairs[done, CANDIDATE]
        pairs[done, END] = y + rows[y, EXTENT]
        pairs[done, IS_MATCH] = 0
        if _matches(query, rows, x, y):
            pairs[done, IS_MATCH] = 1
            matched += 1
            joined += done > 0 and pairs[pairs[done, ABOVE], IS_MATCH] == 1
        if query[x, FIRST] >= 0 and rows[y, FIRST] >= 0:
            end = _children(query, rows, sizes, pairs, count, x, y)
            for number in range(count, end):
                pairs[number, ABOVE] = done
                if query[x, KIND] == WILDCARD:
                    pairs[done, END] = min(pairs[done, END], pairs[number, CANDIDATE])
            count = end
        done += 1
    return count, matched, joined


@njit(cache=True)
def _unify(query, rows, pairs, groups, count):
    """Keep the matches of variables that are consistent with each other."""
    total = 0
    for number in range(count):
        kind = query[pairs[number, QUERY], KIND]
        if (kind == LETTER or kind == NAME) and pairs[number, IS_MATCH]:
            name, label = _labels(query, rows, pairs, number)
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
        kind = query[pairs[number, QUERY], KIND]
        if (kind == LETTER or kind == NAME) and pairs[number, IS_MATCH]:
            name, label = _labels(query, rows, pairs, number)
            for group in range(total):
                if groups[group, 0] == name and groups[group, 1] == label:
                    pairs[number, IS_MATCH] = groups[group, 3]


@njit(cache=True, inline="always")
def _labels(query, rows, pairs, number):
    return query[pairs[number, QUERY], LABEL], rows[pairs[number, CANDIDATE], LABEL]


@njit(cache=True)
def _choose(groups, total):
    """Choose one-to-one among pairs of names: by count, equality and labels, descending."""
    for group in range(total):
        groups[group, 3] = -1
    for _ in range(total):
        top = -1
        for group in range(total):
            if groups[group, 3] < 0 and (top < 0 or _precedes(groups, group, top)):
                top = group
        is_free = 1
        for group in range(total):
            if groups[group, 3] == 1 and (
                groups[group, 0] == groups[top, 0] or groups[group, 1] == groups[top, 1]
            ):
                is_free = 0
        groups[top, 3] = is_free


@njit(cache=True)
def _precedes(groups, a, b):
    if groups[a, 2] != groups[b, 2]:
        return groups[a, 2] > groups[b, 2]
    is_equal = groups[a, 0] == groups[a, 1]
    if is_equal != (groups[b, 0] == groups[b, 1]):
        return is_equal
    if groups[a, 0] != groups[b, 0]:
        return groups[a, 0] > groups[b, 0]
    return groups[a, 1] > groups[b, 1]


@njit(cache=True)
def _bind(query, rows, pairs, count):
    """Take the match of a wildcard back if one of its name matched another subtree."""
    for number in range(count):
        q, begin = pairs[number, QUERY], pairs[number, CANDIDATE]
        if query[q, KIND] != WILDCARD:
            continue
        length = pairs[number, END] - begin
        for other in range(number):
            start = pairs[other, CANDIDATE]
            if query[pairs[other, QUERY], LABEL] == query[q, LABEL] and pairs[other, IS_MATCH]:
                is_equal = pairs[other, END] - start == length
                for place in range(length if is_equal else 0):
                    here, there = rows[begin + place], rows[start + place]
                    is_equal = is_equal and here[LABEL] == there[LABEL]
                    if place:
                        is_equal = is_equal and here[PARENT] - begin == there[PARENT] - start
                if not is_equal:
                    pairs[number, IS_MATCH] = 0


@njit(cache=True)
def _counts(query, rows, pairs, count, seen, stamp):
    """Return the matching nodes and edges of a walk, the nodes below wildcards and those with equal
    labels; note the matches as seen."""
    matched, joined, absorbed, equal = 0, 0, 0, 0
    for number in range(count):
        if not pairs[number, IS_MATCH]:
            continue
        q, c, above = pairs[number, QUERY], pairs[number, CANDIDATE], pairs[number, ABOVE]
        seen[q, c] = stamp
        matched += 1
        joined += above >= 0 and pairs[above, IS_MATCH] == 1
        if query[q, KIND] == WILDCARD:
            equal += 1
            absorbed += pairs[number, END] - c - 1
        else:
            equal += query[q, LABEL] == rows[c, LABEL]
    return matched, joined, absorbed, equal


@njit(cache=True)
def _mark(query, rows, pairs, count, marks):
    marks[:] = 0
    for number in range(count):
        q, c = pairs[number, QUERY], pairs[number, CANDIDATE]
        if not pairs[number, IS_MATCH]:
            continue
        if query[q, KIND] == WILDCARD:
            marks[c : pairs[number, END]] = 2
        else:
            marks[c] = 2 if query[q, LABEL] == rows[c, LABEL] else 1
