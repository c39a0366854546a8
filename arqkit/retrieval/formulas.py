"""Formula search on symbol layout trees and operator trees (Tangent-S; 000 §5.3, 004 §5.3).

Candidates are the looks (pairs of a layout and an operator tree) whose symbol pairs are most like
the query's. They are ranked by a weighted sum of the alignment scores of both trees.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from arqkit.retrieval.alignment import Ints, Nodes, Reals
from arqkit.retrieval.forest import NO_TREE, Forest, ForestPart
from arqkit.retrieval.layout_trees import layout_tree
from arqkit.retrieval.mathml import formula_mathml
from arqkit.retrieval.operator_trees import operator_tree
from arqkit.retrieval.trees import Tree

LARGEST_TREE = 1000  # nodes
CANDIDATES = 3000  # looks that are aligned
NODES = 50_000  # at most, the nodes of the query times the looks: fewer looks for a long formula
WEIGHTS = np.array([[0.25, 0.1, 0.35], [0.1, 0.05, 0.15]])
"""Of the three alignment scores, in layout trees and in operator trees; the sum is 1."""

_TREES = ["layout", "operators"]
_NO_ROWS = pl.DataFrame(schema={"item": pl.String, **dict.fromkeys(_TREES, pl.Int32)})

_NOTHING = pl.DataFrame(schema={"topic": pl.String, "item": pl.String, "score": pl.Float64})


class IndexedFormula(NamedTuple):
    """A formula of the collection: Presentation MathML, and Content MathML where there is any."""

    item: str
    mathml: str
    content: str | None = None


class FormulaQuery(NamedTuple):
    """The formula of a topic."""

    topic: str
    mathml: str
    content: str | None = None


class Hit(NamedTuple):
    """A look with its score between 0 and 1."""

    look: int
    score: float


class FormulaIndexPart(NamedTuple):
    """The trees of a part of a collection, and the look of each formula that has a tree."""

    layouts: ForestPart
    operators: ForestPart
    items: list[str]
    trees: list[tuple[int, int]]

    @classmethod
    def read(cls, formulas: Iterable[IndexedFormula]) -> Self:
        """Return the part of an index for some formulas."""
        part = cls(ForestPart({}, {}), ForestPart({}, {}), [], [])
        for formula in formulas:
            layout, operators = trees_of(formula.mathml, formula.content)
            if layout or operators:
                part.items.append(formula.item)
                part.trees.append((part.layouts.add(layout), part.operators.add(operators)))
        return part


def read_formulas(formulas: pl.DataFrame) -> FormulaIndexPart:
    """Return the part of an index for rows of formula_id, latex, slt and opt (MathML, or null).

    The LaTeX is converted as that of a query is: other converters make other trees of a formula,
    and a copy would not be found first. Their MathML is read where the LaTeX cannot be converted.
    """
    converted = cache(formula_mathml)
    rows = formulas.select("formula_id", "latex", "slt", "opt").iter_rows()
    read = (
        IndexedFormula(item, mathml)
        if (mathml := converted(latex or ""))
        else IndexedFormula(item, slt or "", opt)
        for item, latex, slt, opt in rows
    )
    return FormulaIndexPart.read(formula for formula in read if formula.mathml or formula.content)


def trees_of(mathml: str, content: str | None = None) -> tuple[Tree | None, Tree | None]:
    """Return the layout tree and the operator tree of a formula, where it has one.

    A tree of more than 1,000 nodes is no formula; aligning two of them would take too much memory.
    """
    layout, operators = layout_tree(mathml), operator_tree(content or mathml)
    return _small(layout), _small(operators)


def _small(tree: Tree | None) -> Tree | None:
    return tree if tree and len(tree.labels) <= LARGEST_TREE else None


class _Side(NamedTuple):
    """A forest, its tree of each look, the query's tree, and the weights of its three scores."""

    forest: Forest
    numbers: Ints
    query: Nodes
    weights: Reals

    def scores(self, looks: NDArray[np.int64]) -> Reals:
        """Return the weighted alignment scores of the trees of some looks."""
        trees, places = np.unique(self.numbers[looks], return_inverse=True)
        of_trees = np.zeros(len(trees))
        is_tree = trees != NO_TREE
        of_trees[is_tree] = self.forest.align(self.query, trees[is_tree]) @ self.weights
        return of_trees[places]


class FormulaIndex:
    """An index of formulas: forests of layout and operator trees, looks, and their formulas."""

    def __init__(
        self, layouts: Forest, operators: Forest, looks: Ints, items: pl.DataFrame
    ) -> None:
        """Take what `merge` or `open` made: a row of two trees for each look, and item and look."""
        self.layouts, self.operators = layouts, operators
        self.looks = looks
        self.items = items

    @classmethod
    def merge(cls, parts: Iterable[FormulaIndexPart]) -> Self:
        """Return the index of all parts, read once; it is the same for one part or many."""
        layouts, operators, frames = ForestPart({}, {}), ForestPart({}, {}), [_NO_ROWS]
        for part in parts:
            numbers = layouts.extend(part.layouts), operators.extend(part.operators)
            trees = np.array(part.trees, np.int32).reshape(-1, 2)
            columns = [np.append(new, NO_TREE)[trees[:, n]] for n, new in enumerate(numbers)]
            frames.append(pl.DataFrame([part.items, *columns], schema=_NO_ROWS.schema))
        rows = pl.concat(frames)
        looks = rows.select(_TREES).unique(maintain_order=True).with_row_index("look")
        items = rows.join(looks, on=_TREES, how="left", maintain_order="left")
        return cls(
            Forest.build(layouts),
            Forest.build(operators),
            np.ascontiguousarray(looks.select(_TREES).to_numpy(), np.int32),
            items.select("item", pl.col("look").cast(pl.Int32)),
        )

    def save(self, folder: Path) -> None:
        """Write the index to a folder."""
        self.layouts.save(folder / "layouts")
        self.operators.save(folder / "operators")
        np.save(folder / "looks.npy", self.looks)
        self.items.write_parquet(folder / "items.parquet")

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Open an index that `save` wrote."""
        forests = Forest.open(folder / "layouts"), Forest.open(folder / "operators")
        return cls(
            *forests, np.load(folder / "looks.npy"), pl.read_parquet(folder / "items.parquet")
        )

    def hits(self, mathml: str, content: str | None = None, *, limit: int = 100) -> list[Hit]:
        """Return the best looks for a formula, best first; ties in the order of the collection."""
        looks, scores = self._ranked(mathml, content)
        return [
            Hit(*pair) for pair in zip(looks[:limit].tolist(), scores[:limit].tolist(), strict=True)
        ]

    def _ranked(self, mathml: str, content: str | None) -> tuple[Ints, Reals]:
        """Return the candidates for a formula and their scores, best first."""
        sides = list(self._sides(mathml, content))
        likeness = np.zeros(len(self.looks), np.float32)
        for side in sides:
            likeness += _of_looks(side.forest.dice(side.query), side.numbers)
        nodes = max((len(side.query.labels) for side in sides), default=1)
        candidates = _best(likeness, min(CANDIDATES, NODES // nodes))
        scores = np.zeros(len(candidates))
        for side in sides:
            scores += side.scores(candidates)
        order = np.argsort(-scores, kind="stable")
        order = order[: np.count_nonzero(scores)]
        return candidates[order].astype(np.int32), scores[order]

    def _sides(self, mathml: str, content: str | None) -> Iterator[_Side]:
        forests = self.layouts, self.operators
        for number, tree in enumerate(trees_of(mathml, content)):
            if tree is not None:
                forest = forests[number]
                yield _Side(forest, self.looks[:, number], forest.query(tree), WEIGHTS[number])

    def search(self, queries: Iterable[FormulaQuery], *, depth: int = 1000) -> pl.DataFrame:
        """Return the ranking (topic, item, score) of at most `depth` formulas for each query."""
        frames = [self._ranking(query, depth) for query in queries]
        return pl.concat([_NOTHING, *frames])

    def _ranking(self, query: FormulaQuery, depth: int) -> pl.DataFrame:
        looks, scores = self._ranked(query.mathml, query.content)
        hits = pl.DataFrame({"look": looks, "score": scores}).head(depth)
        return (
            hits.join(self.items, on="look", how="left", maintain_order="left_right")
            .head(depth)
            .select(pl.lit(query.topic).alias("topic"), "item", "score")
        )


def _of_looks(likeness: NDArray[np.float32], numbers: Ints) -> NDArray[np.float32]:
    """Return the likeness of the tree of each look; 0 without a tree."""
    return np.append(likeness, np.float32(0))[numbers]


def _best(likeness: NDArray[np.float32], most: int) -> NDArray[np.int64]:
    """Return the looks that are like the query at all, at most so many, in the order of looks.

    Among equal looks, those that come first are chosen.
    """
    if np.count_nonzero(likeness) <= most:
        return np.flatnonzero(likeness)
    least = np.partition(likeness, -most)[-most]
    better, equal = np.flatnonzero(likeness > least), np.flatnonzero(likeness == least)
    return np.sort(np.append(better, equal[: most - len(better)]))
