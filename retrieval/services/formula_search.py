"""Tangent-S for a lab: formulas for Task 2, and answers for Task 1 by a formula of the question."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl

from arqkit.records import TopicRecord
from arqkit.retrieval.formulas import FormulaIndex, FormulaIndexPart, FormulaQuery, IndexedFormula
from arqkit.retrieval.matches import with_matches
from arqkit.retrieval.mathml import marked_wildcards, query_mathml
from arqkit.texts.html.rendering import SafeHtml, formula_html
from arqkit.texts.maths.typesetting import presentation_mathml, typeset
from retrieval.selectors import Sources
from retrieval.services.formula_topics import rank_formulas
from retrieval.services.indexes import Progress, built_index

INDEX_VERSION = 2
"""Increase it with every change of the trees, so that no older index is opened."""
NAME, OPTIONS = "tangent-s", {"version": INDEX_VERSION}


def by_formulas(sources: Sources, settings: Mapping[str, Any], progress: Progress) -> pl.DataFrame:
    """Return the best formulas for each topic, or the answers with the best ones (000, §4.3)."""
    index = opened_index(build_formulas(sources, progress))

    def search(topic: TopicRecord, latex: str, depth: int) -> pl.DataFrame:
        mathml = query_mathml(latex)
        return index.search([FormulaQuery(topic.query_id, mathml)] if mathml else [], depth=depth)

    return rank_formulas(sources, progress, search)


@lru_cache(maxsize=2)
def opened_index(folder: Path) -> FormulaIndex:
    """Return the index in a folder, opened once in a process: a finished folder never changes."""
    return FormulaIndex.open(folder)


def build_formulas(sources: Sources, progress: Progress) -> Path:
    """Return the folder of the index of formulas, which is built if it is missing."""
    return built_index(
        sources, name=NAME, options=OPTIONS, build=lambda place: _build(sources, place, progress)
    )


def matched_formula(latex: str, queries: Iterable[str]) -> SafeHtml:
    """Return an inline formula whose symbols that match a query, each in LaTeX, are marked."""
    done = typeset(latex, display=False)
    if done.mathml:
        asked = (typeset(marked_wildcards(query), display=False).mathml or "" for query in queries)
        done = done._replace(mathml=with_matches(done.mathml, asked))
    return formula_html((latex, False), done)


def _build(sources: Sources, folder: Path, progress: Progress) -> None:
    """Build the index, part by part; formulas without MathML are converted from their LaTeX."""
    total = sources.count_formulas()
    parts, done = [], 0
    for some in sources.formulas():
        parts.append(FormulaIndexPart.read(_counted(some, done, total, progress)))
        done += some.height
    FormulaIndex.merge(parts).save(folder)


def _counted(
    formulas: pl.DataFrame, done: int, total: int, progress: Progress
) -> Iterator[IndexedFormula]:
    for number, row in enumerate(formulas.select("formula_id", "latex", "slt", "opt").iter_rows()):
        formula_id, latex, slt, opt = row
        progress(done + number, total)
        if mathml := slt or presentation_mathml(latex or ""):
            yield IndexedFormula(formula_id, mathml, opt)
