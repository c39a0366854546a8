"""Formula search: the scores of Tangent-S, its quality on judged formulas, and its laws."""

import os
import subprocess
import sys
from functools import cache
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from arqkit.comparison.differences import bootstrap_intervals
from arqkit.formats.qrels.read import read_qrels
from arqkit.measures.scoring import Scorer
from arqkit.ranking import with_order
from arqkit.retrieval.forest import Forest, ForestPart
from arqkit.retrieval.formulas import (
    WEIGHTS,
    FormulaIndex,
    FormulaIndexPart,
    FormulaQuery,
    IndexedFormula,
)  # fmt: skip
from arqkit.retrieval.trees import Tree
from tests.arqkit.retrieval.gold import judged, tree_of
from tests.arqkit.retrieval.test_trees import math
from tests.paths import ROOT
from tests.real_data import DATA, index_frame, needs_data, read_run

PRIMES = ["nDCG(judged_only=True)@1000", "AP(rel=2,judged_only=True)"]
FORMULAS = {
    "square": "<msup><mi>x</mi><mn>2</mn></msup>",
    "sum": "<mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow>",
    "renamed": "<mrow><mi>u</mi><mo>+</mo><mi>v</mi></mrow>",
    "twice": "<mrow><mi>a</mi><mo>+</mo><mi>a</mi></mrow>",
    "swapped": "<mrow><mi>b</mi><mo>+</mo><mi>a</mi></mrow>",
    "difference": "<mrow><mi>a</mi><mo>-</mo><mi>b</mi></mrow>",
    "longer": "<mrow><mi>a</mi><mo>+</mo><mfrac><mi>b</mi><mn>2</mn></mfrac></mrow>",
    "product": "<mrow><mi>a</mi><mo>⁢</mo><mi>b</mi></mrow>",
}
FORMULAS["both"] = f"<mrow>{FORMULAS['square']}<mo>=</mo><mfrac><mi>b</mi><mn>2</mn></mfrac></mrow>"
FORMULAS["same"] = f"<mrow>{FORMULAS['square']}<mo>=</mo>{FORMULAS['square']}</mrow>"


def an_index(*sizes: int) -> FormulaIndex:
    """Return an index of the formulas, built in parts of so many."""
    formulas = [IndexedFormula(name, math(content)) for name, content in FORMULAS.items()]
    cuts = np.cumsum([0, *sizes, len(formulas)])
    return FormulaIndex.merge(
        FormulaIndexPart.read(formulas[start:end]) for start, end in pairwise(cuts)
    )


def scores(content: str) -> dict[str, float]:
    """Return the scores of the formulas for a query, best first."""
    ranking = an_index().search([FormulaQuery("B.1", math(content))])
    return dict(zip(ranking["item"], ranking["score"], strict=True))


@cache
def tangent_scores(kind: str) -> list[tuple[str, list[str], np.ndarray, np.ndarray]]:
    """Return for each topic the visual ids, our three scores and those of Tangent-S."""
    topics = judged(kind)
    part = ForestPart({}, {})
    numbers = [[part.add(tree) for _, tree, _ in topic.formulas] for topic in topics]
    forest = Forest.build(part)
    return [
        (
            topic.topic,
            [visual_id for visual_id, _, _ in topic.formulas],
            forest.align(forest.query(topic.tree), np.array(rows, np.int32)),
            np.array([expected for _, _, expected in topic.formulas]),
        )
        for topic, rows in zip(topics, numbers, strict=True)
    ]


@needs_data
@pytest.mark.parametrize("kind", ["slt", "opt"])
def test_the_three_scores_are_those_of_tangent_s(kind: str) -> None:
    ours, theirs = (np.concatenate([row[n] for row in tangent_scores(kind)]) for n in (2, 3))
    assert len(ours) > 9900
    assert np.isclose(ours, theirs, atol=1e-9).all(axis=1).mean() >= 0.95


def combined() -> pl.DataFrame:
    """Return the ranking of the judged formulas by the weighted scores of both trees."""
    parts = [
        pl.DataFrame({"topic": topic, "item": ids, "score": values @ WEIGHTS[side]})
        for side, kind in enumerate(("slt", "opt"))
        for topic, ids, values, _ in tangent_scores(kind)
    ]
    return pl.concat(parts).group_by("topic", "item").agg(pl.col("score").sum())


@needs_data
def test_it_ranks_judged_formulas_better_than_the_official_run() -> None:
    path = "arqmath-1/qrels.task2.visual-v2.tsv"
    qrels = read_qrels((DATA / path).read_bytes(), path=path)
    run = DATA / "arqmath-1/runs/task2/Baseline-task2-TangentS-auto-math-P.visual-ids.tsv.gz"
    official = index_frame(read_run(run))
    scorer = Scorer(qrels, PRIMES)
    of_all = np.array(scorer.score(with_order(combined()))["value"]).reshape(2, -1).mean(axis=1)
    assert (of_all >= [0.81, 0.54]).all()
    listed = combined().join(official, on=["topic", "item"], how="semi")
    values = [
        np.array(scorer.score(ranking)["value"]).reshape(2, -1)
        for ranking in (with_order(listed), official)
    ]
    assert values[1].mean(axis=1) == pytest.approx([0.691, 0.446], abs=5e-4)
    assert (bootstrap_intervals(np.ascontiguousarray(values[0] - values[1]))[:, 0] > 0).all()


@pytest.mark.parametrize("name", FORMULAS)
def test_an_exact_copy_ranks_first(name: str) -> None:
    best, *others = scores(FORMULAS[name]).items()
    assert best == (name, pytest.approx(1))
    assert all(score < 1 for _, score in others)


def test_renaming_costs_only_the_weight_of_equal_labels() -> None:
    lost = 2 / 3 * WEIGHTS[0, 2] + 2 / 3 * WEIGHTS[1, 2]
    assert scores(FORMULAS["sum"])["renamed"] == pytest.approx(1 - lost)


def test_one_variable_does_not_stand_for_two() -> None:
    assert scores(FORMULAS["sum"])["twice"] < scores(FORMULAS["sum"])["renamed"]


def test_operands_of_a_sum_have_no_order() -> None:
    part = ForestPart({}, {})
    part.add(tree_of("[U!plus,0[V!𝑎],1[O!divide,0[V!𝑏],1[N!2]]]"))
    forest = Forest.build(part)
    query = forest.query(tree_of("[U!plus,0[O!divide,0[V!𝑏],1[N!2]],1[V!𝑎]]"))
    assert forest.align(query, np.zeros(1, np.int32)).tolist() == [[1, 1, 1]]


@pytest.mark.parametrize(
    ("query", "matched"),
    [
        ('<mrow><mi>a</mi><mo>+</mo><qvar name="y"/></mrow>', ["longer", "sum"]),
        ('<mrow><qvar name="y"/><mo>=</mo><mfrac><mi>b</mi><mn>2</mn></mfrac></mrow>', ["both"]),
        ('<mrow><qvar name="y"/><mo>=</mo><qvar name="y"/></mrow>', ["same"]),
        ('<mrow><qvar name="y"/><mo>=</mo><qvar name="z"/></mrow>', ["both", "same"]),
    ],
)
def test_a_wildcard_matches_any_subtree_and_equal_ones_equal_subtrees(
    query: str, matched: list[str]
) -> None:
    perfect = [name for name, score in scores(query).items() if score > 1 - 1e-9]
    assert sorted(set(perfect) - {"twice"}) == matched


@pytest.mark.parametrize("sizes", [(1,), (3, 4), (0, 9)])
def test_an_index_of_parts_equals_one_built_at_once(sizes: tuple[int, ...], tmp_path: Path) -> None:
    folders = tmp_path / "parts", tmp_path / "whole"
    an_index(*sizes).save(folders[0])
    an_index().save(folders[1])
    files = [sorted(path.relative_to(folder) for path in folder.rglob("*.*")) for folder in folders]
    assert files[0] == files[1]
    assert all(
        (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes() for name in files[0]
    )


def test_a_saved_index_finds_the_same(tmp_path: Path) -> None:
    index = an_index()
    index.save(tmp_path / "index")
    opened = FormulaIndex.open(tmp_path / "index")
    queries = [FormulaQuery(name, math(content)) for name, content in FORMULAS.items()]
    assert opened.search(queries).equals(index.search(queries))


def test_marks_say_which_symbols_match() -> None:
    layouts = an_index().layouts
    marks = [
        layouts.matched(layouts.query(tree), number).tolist()
        for tree, number in product([Tree(["V!a", "+", "V!z"], [-1, 0, 1], ["n"] * 3)], (1, 5))
    ]
    assert marks == [[2, 2, 1], [2, 0, 1]]


def test_threads_may_search_at_the_same_time() -> None:
    searching = (
        "from concurrent.futures import ThreadPoolExecutor;"
        "from tests.arqkit.retrieval.test_formula_search import FORMULAS, an_index, math;"
        "index = an_index();"
        "search = lambda name: index.hits(math(FORMULAS[name]))[0].score > 0.99;"
        "print(all(ThreadPoolExecutor(8).map(search, [*FORMULAS] * 20)))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", searching],
        cwd=ROOT,
        env={**os.environ, "NUMBA_THREADING_LAYER": "workqueue"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (0, "True\n"), ended.stderr
