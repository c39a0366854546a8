"""Distinct trees of a collection in one set of arrays, with postings of their symbol pairs.

The first stage of Tangent-S finds candidates by symbol pairs: (label, label, path between them)
of each node with itself and its nearest ancestors. The score of a tree is the Dice coefficient of
its pairs and those of the query (Davila and Zanibbi, SIGIR 2017, §3.1). Here each pair counts
twice, by its labels and by their types, so that formulas with other variables are candidates too.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from arqkit.retrieval.alignment import (
    Bytes,
    Ints,
    Nodes,
    Reals,
    Trees,
    align,
    matched_nodes,
    type_of_label,
)
from arqkit.retrieval.trees import Tree

Arrays = dict[str, NDArray[Any]]
"""The arrays of a forest by name, which have several types of numbers."""

NO_TREE = -1


class ForestPart(NamedTuple):
    """Distinct trees, before their labels are sorted: the labels, and the bytes of each tree."""

    labels: dict[str, int]
    trees: dict[bytes, int]

    def add(self, tree: Tree | None) -> int:
        """Return the number of an equal tree of this part, or of a new one; -1 without a tree."""
        if tree is None:
            return NO_TREE
        numbers = self.labels
        ids = [numbers.setdefault(label, len(numbers)) for label in tree.labels]
        edges = [min(ord(edge), 255) for edge in tree.edges]
        key = np.array([ids, tree.parents, edges], np.int32).tobytes()
        return self.trees.setdefault(key, len(self.trees))

    def extend(self, other: ForestPart) -> Ints:
        """Add the trees of another part, and return their numbers in this one.

        Trees keep the order in which they first come, so that one part or many give one forest.
        """
        label_ids = self.labels
        ids = np.array(
            [label_ids.setdefault(label, len(label_ids)) for label in other.labels], np.int32
        )
        numbers = []
        for key in other.trees:
            columns = np.frombuffer(key, np.int32).reshape(3, -1).copy()
            columns[0] = ids[columns[0]]
            numbers.append(self.trees.setdefault(columns.tobytes(), len(self.trees)))
        return np.array(numbers, np.int32)


class Forest:
    """Distinct trees that can be searched. Labels are numbered in their alphabetical order."""

    def __init__(self, vocabulary: Sequence[str], arrays: Arrays) -> None:
        """Take what `build` or `open` made."""
        self.vocabulary = vocabulary
        self._arrays = arrays
        kinds = np.array([type_of_label(label) for label in vocabulary], np.uint8)
        columns = {name: arrays[name] for name in ("labels", "parents", "edges", "starts")}
        self.trees = Trees(**columns, kinds=kinds)

    def __len__(self) -> int:
        """Return the number of trees."""
        return len(self.trees.starts) - 1

    @classmethod
    def build(cls, part: ForestPart) -> Self:
        """Return a forest of the trees of a part, in their order."""
        vocabulary = sorted(part.labels)
        ids = {label: number for number, label in enumerate(vocabulary)}
        new = np.array([ids[label] for label in part.labels], np.int32)
        lengths = np.array([len(key) // 12 for key in part.trees], np.int64)
        columns = np.zeros((3, int(lengths.sum())), np.int32)
        starts = np.concatenate([[0], np.cumsum(lengths)])
        for key, start in zip(part.trees, starts, strict=False):
            size = len(key) // 12
            columns[:, start : start + size] = np.frombuffer(key, np.int32).reshape(3, -1)
        arrays: Arrays = {
            "labels": new[columns[0]],
            "parents": columns[1].copy(),
            "edges": columns[2].astype(np.uint8),
            "starts": starts,
        }
        kinds = np.array([type_of_label(label) for label in vocabulary], np.uint8)
        return cls(vocabulary, arrays | _postings(arrays, kinds))

    def save(self, folder: Path) -> None:
        """Write the forest to a folder, which is made if it is missing."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "vocabulary.txt").write_text("\n".join(self.vocabulary), encoding="utf-8")
        for name, array in self._arrays.items():
            np.save(folder / f"{name}.npy", array)

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Open a forest; its arrays stay on disk until they are read."""
        text = (folder / "vocabulary.txt").read_text(encoding="utf-8")
        paths = sorted(folder.glob("*.npy"))
        arrays = {path.stem: np.load(path, mmap_mode="r") for path in paths}
        return cls(text.split("\n") if text else [], arrays)

    def query(self, tree: Tree) -> Nodes:
        """Return the nodes of a query; labels that no tree has get ids of their own below 0."""
        unknown: dict[str, int] = {}
        ids = [self._label_id(label, unknown) for label in tree.labels]
        kinds = [type_of_label(label) for label in tree.labels]
        edges = [min(ord(edge), 255) for edge in tree.edges]
        return Nodes(
            np.array(ids, np.int32),
            np.array(kinds, np.uint8),
            np.array(tree.parents, np.int32),
            np.array(edges, np.uint8),
        )

    def _label_id(self, label: str, unknown: dict[str, int]) -> int:
        place = bisect_left(self.vocabulary, label)
        if place < len(self.vocabulary) and self.vocabulary[place] == label:
            return place
        return unknown.setdefault(label, -1 - len(unknown))

    def dice(self, query: Nodes) -> NDArray[np.float32]:
        """Return the Dice coefficient of the symbol pairs of each tree with those of the query."""
        from arqkit.retrieval.pairs import add_shared, pairs_of

        keys = pairs_of(*query)
        pairs, counts = np.unique(keys, return_counts=True)
        all_pairs = self._arrays["pairs"]
        places = np.searchsorted(all_pairs, pairs)
        out = np.zeros(len(self), np.float32)
        for place, pair, count in zip(places, pairs, counts, strict=True):
            if place < len(all_pairs) and all_pairs[place] == pair:
                begin, end = self._arrays["pair_starts"][place : place + 2]
                add_shared(
                    self._arrays["posted"][begin:end],
                    self._arrays["posted_counts"][begin:end],
                    count,
                    out,
                )
        totals: NDArray[np.float32] = self._arrays["totals"] + np.float32(len(keys))
        return 2 * out / totals

    def align(self, query: Nodes, numbers: Ints) -> Reals:
        """Return the three alignment scores of some trees, a row each."""
        return align(query, self.trees, numbers)

    def matched(self, query: Nodes, number: int) -> NDArray[np.uint8]:
        """Return for each node of a tree whether it matches: 2 equal, 1 by its type, 0 not."""
        return matched_nodes(query, self.trees, number)


def _postings(arrays: Arrays, kinds: Bytes) -> Arrays:
    """Return the distinct pairs, and for each the trees that have it and how often."""
    from arqkit.retrieval.pairs import count_pairs, pairs_of_trees

    columns = arrays["labels"], arrays["parents"], arrays["edges"], arrays["starts"]
    totals = count_pairs(arrays["parents"], arrays["starts"])
    keys = pairs_of_trees(*columns, kinds, totals)
    owners = np.repeat(np.arange(len(totals), dtype=np.int32), totals)
    order = np.lexsort((owners, keys))
    keys, owners = keys[order], owners[order]
    is_new = np.ones(len(keys), np.bool_)
    is_new[1:] = (keys[1:] != keys[:-1]) | (owners[1:] != owners[:-1])
    places = np.flatnonzero(is_new)
    counts = np.diff(np.append(places, len(keys)))
    keys, owners = keys[places], owners[places]
    firsts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])) if len(keys) else places
    return {
        "pairs": keys[firsts],
        "pair_starts": np.append(firsts, len(keys)),
        "posted": owners,
        "posted_counts": np.minimum(counts, 65535).astype(np.uint16),
        "totals": totals.astype(np.float32),
    }
