"""The compiled symbol pairs of trees (see `arqkit.retrieval.forest`)."""

import numpy as np

from arqkit.extras import needs_extra

with needs_extra("retrieval"):
    from numba import njit

WINDOW = 2  # ancestors of a node that it forms a pair with


@njit(cache=True)
def pairs_of(labels, parents, edges):
    """Return the hashes of the symbol pairs of a tree."""
    keys = np.empty(_pair_count(parents), np.uint64)
    _fill_pairs(labels, parents, edges, keys, 0)
    return keys


@njit(cache=True)
def _pair_count(parents):
    total = 0
    for node in range(len(parents)):
        above, steps = parents[node], 0
        while above >= 0 and steps < WINDOW:
            above, steps, total = parents[above], steps + 1, total + 1
    return max(total, 1)


@njit(cache=True)
def _fill_pairs(labels, parents, edges, keys, count):
    """Write the hashes of a tree's pairs from place `count` on; return the place after them."""
    start = count
    for node in range(len(labels)):
        above, step, path = node, 0, np.uint64(0)
        while parents[above] >= 0 and step < WINDOW:
            path = path * np.uint64(256) + np.uint64(edges[above])
            above, step = parents[above], step + 1
            keys[count] = _hash(labels[above], labels[node], path)
            count += 1
    if count == start:
        keys[count] = _hash(labels[0], labels[0], np.uint64(0))
        count += 1
    return count


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
def pairs_of_trees(labels, parents, edges, starts, totals):
    """Return the hashes of the symbol pairs of all trees, of which each has `totals`."""
    keys = np.empty(totals.sum(), np.uint64)
    count = 0
    for tree in range(len(totals)):
        begin, end = starts[tree], starts[tree + 1]
        count = _fill_pairs(labels[begin:end], parents[begin:end], edges[begin:end], keys, count)
    return keys


@njit(cache=True)
def add_shared(trees, counts, count, out):
    """Add to `out` how often each of the trees shares a pair that the query has `count` times."""
    for number in range(len(trees)):
        out[trees[number]] += min(counts[number], count)
