"""The compiled symbol pairs of trees (see `arqkit.retrieval.forest`)."""

import numpy as np

from arqkit.extras import needs_extra
from arqkit.retrieval.alignment import NO_KIND, UNORDERED

with needs_extra("retrieval"):
    from numba import njit

WINDOW = 2  # ancestors of a node that it forms a pair with


@njit(cache=True)
def pairs_of(labels, kinds, parents, edges):
    """Return the hashes of the symbol pairs of a tree; `kinds` are those of its nodes."""
    keys = np.empty(_pair_count(parents), np.uint64)
    _fill_pairs(labels, kinds, parents, edges, keys, 0)
    return keys


@njit(cache=True)
def _pair_count(parents):
    total = len(parents)
    for node in range(len(parents)):
        above, steps = parents[node], 0
        while above >= 0 and steps < WINDOW:
            above, steps, total = parents[above], steps + 1, total + 1
    return 2 * total


@njit(cache=True)
def _fill_pairs(labels, kinds, parents, edges, keys, count):
    """Write the hashes of a tree's pairs from place `count` on; return the place after them.

    Each pair is written by its labels, and by their types where other labels of the type match.
    """
    for node in range(len(labels)):
        above, path = node, np.uint64(0)
        for _ in range(WINDOW + 1):
            label, other = labels[above], labels[node]
            keys[count] = _hash(label, other, path)
            keys[count + 1] = _hash(_type(label, kinds[above]), _type(other, kinds[node]), path)
            count += 2
            path = path * np.uint64(256) + np.uint64(edges[above]) + np.uint64(1)
            above = parents[above]
            if above < 0:
                break
    return count


@njit(cache=True, inline="always")
def _type(label, kind):
    return label if kind == NO_KIND or kind == UNORDERED else -1_000_000_000 - np.int64(kind)


@njit(cache=True)
def _hash(above, below, path):
    """Return a number of 64 bits for a pair: the finalizer of splitmix64 over its three parts."""
    value = np.uint64(path)
    for label in (above, below):
        value ^= (
            np.uint64(np.int64(label)) + np.uint64(0x9E3779B97F4A7C15) + (value << np.uint64(6))
        )
        value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        value ^= value >> np.uint64(31)
    return value


@njit(cache=True)
def count_pairs(parents, starts):
    """Return how many symbol pairs each tree has."""
    totals = np.empty(len(starts) - 1, np.int64)
    for tree in range(len(totals)):
        totals[tree] = _pair_count(parents[starts[tree] : starts[tree + 1]])
    return totals


@njit(cache=True)
def pairs_of_trees(labels, parents, edges, starts, kinds, totals):
    """Return the hashes of the symbol pairs of all trees, of which each has `totals`."""
    keys = np.empty(totals.sum(), np.uint64)
    count = 0
    for tree in range(len(totals)):
        begin, end = starts[tree], starts[tree + 1]
        ids = labels[begin:end]
        count = _fill_pairs(ids, kinds[ids], parents[begin:end], edges[begin:end], keys, count)
    return keys


@njit(cache=True)
def add_shared(trees, counts, count, out):
    """Add to `out` how often each of the trees shares a pair that the query has `count` times."""
    for number in range(len(trees)):
        out[trees[number]] += min(counts[number], count)
