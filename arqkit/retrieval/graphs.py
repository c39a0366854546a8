"""Formulas as graphs: the nodes of their MathML with one-hot features (002 §3.2)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Self, cast

import numpy as np
from lxml import etree
from numpy.typing import NDArray

from arqkit.texts.maths.typesetting import presentation_mathml

TAGS, ATTRIBUTES, CHARACTERS = 32, 32, 192
FEATURES = TAGS + ATTRIBUTES + CHARACTERS
NOTHING = FEATURES  # the column of a node that lacks a feature, or whose features are masked
LARGEST = 1000  # nodes; a longer text is no formula

Columns = NDArray[np.int64]


class ParsedFormula(NamedTuple):
    """A formula as it is read: tag, attributes and character of each node, and its parent.

    The root comes first and is its own parent. A token of several characters has a node for each of
    them, below the first.
    """

    nodes: list[tuple[str, str, str]]
    parents: list[int]


UNREADABLE = ParsedFormula([("", "", "")], [0])


def parse_formula(latex: str) -> ParsedFormula:
    """Return the nodes of a formula, or `UNREADABLE` if it is no formula or too large for one.

    As in the paper, LaTeX is compiled to MathML (there by KaTeX, here by Temml, which comes from
    it), so that queries and collections look the same.
    """
    mathml = presentation_mathml(latex)
    if mathml is None:
        return UNREADABLE
    root = etree.fromstring(mathml)
    formula, waiting = ParsedFormula([], []), [(root[0] if len(root) == 1 else root, 0)]
    while waiting and len(formula.nodes) <= LARGEST:
        element, parent = waiting.pop()
        place, tag = len(formula.nodes), etree.QName(element).localname
        text = (element.text or "").strip()
        pairs = cast(list[tuple[str, str]], element.items())
        attributes = " ".join(sorted(map("=".join, pairs)))
        formula.nodes.append((tag, attributes, text[:1]))
        formula.nodes.extend((tag, "", sign) for sign in text[1:])
        formula.parents.extend([parent, *[place] * len(text[1:])])
        waiting += [(child, place) for child in reversed(element)]
    return formula if len(formula.nodes) <= LARGEST else UNREADABLE


@dataclass(frozen=True, eq=False)
class Graphs:
    """Graphs one after another: three columns of features for each node, the place of its parent in
    the graph, and the place of the first node of each graph, with the number of nodes at the end.
    """

    columns: NDArray[np.int16]
    parents: NDArray[np.int16]
    starts: NDArray[np.int64]

    def __len__(self) -> int:
        """Return the number of graphs."""
        return len(self.starts) - 1

    def taken(self, numbers: NDArray[np.int64]) -> Graphs:
        """Return some graphs, in the order of their numbers."""
        sizes = np.diff(self.starts)[numbers]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        nodes = np.arange(starts[-1]) + np.repeat(self.starts[numbers] - starts[:-1], sizes)
        return Graphs(self.columns[nodes], self.parents[nodes], starts)

    def owners(self) -> Columns:
        """Return the number of the graph of each node."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def edges(self) -> Columns:
        """Return the edges between nodes and their parents, both ways, as two rows of places."""
        places = np.arange(len(self.parents))
        above = self.parents + np.repeat(self.starts[:-1], np.diff(self.starts))
        below = places[places != above]
        above = above[below]
        return np.stack([np.append(below, above), np.append(above, below)])


class Vocabulary(NamedTuple):
    """The most frequent tags, attributes (all of a node as one) and characters: a column each."""

    tags: list[str]
    attributes: list[str]
    characters: list[str]

    @classmethod
    def of(cls, parsed: Iterable[ParsedFormula]) -> Self:
        """Return the vocabulary of formulas."""
        counts: tuple[Counter[str], ...] = (Counter(), Counter(), Counter())
        for formula in parsed:
            for count, values in zip(counts, zip(*formula.nodes, strict=True), strict=True):
                count.update(filter(None, values))
        sizes = (TAGS, ATTRIBUTES, CHARACTERS)
        return cls(
            *(
                [value for value, _ in sorted(count.items(), key=lambda item: (-item[1], item[0]))][
                    :size
                ]
                for count, size in zip(counts, sizes, strict=True)
            )
        )

    def save(self, path: Path) -> None:
        """Write the vocabulary to a file."""
        path.write_text(json.dumps(self._asdict(), ensure_ascii=False), encoding="utf-8")

    @classmethod
    def open(cls, path: Path) -> Self:
        """Read a file that `save` wrote."""
        return cls(**json.loads(path.read_text(encoding="utf-8")))

    @property
    def identifiers(self) -> int:
        """Return the feature column of the `mi` tag, or -1 if the vocabulary lacks it."""
        return self.tags.index("mi") if "mi" in self.tags else -1

    def graphs(self, parsed: Sequence[ParsedFormula]) -> Graphs:
        """Return formulas as graphs with the features of this vocabulary."""
        first = (0, TAGS, TAGS + ATTRIBUTES)
        feature_numbers = [
            {value: start + place for place, value in enumerate(values)}
            for start, values in zip(first, self, strict=True)
        ]
        columns = [
            [kind.get(value, NOTHING) for kind, value in zip(feature_numbers, node, strict=True)]
            for formula in parsed
            for node in formula.nodes
        ]
        starts = np.cumsum([0, *(len(formula.nodes) for formula in parsed)])
        parents = [place for formula in parsed for place in formula.parents]
        return Graphs(
            np.array(columns, np.int16).reshape(-1, 3), np.array(parents, np.int16), starts
        )
