"""Tangent-S for a lab: formulas for Task 2, and answers for Task 1 by a formula of the question."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl

from arqkit.records import TaskKind, TopicRecord
from arqkit.retrieval.formulas import (
    FormulaIndex,
    FormulaIndexPart,
    FormulaQuery,
    IndexedFormula,
    trees_of,
)
from arqkit.retrieval.matches import with_matches
from arqkit.retrieval.mathml import query_latex, query_mathml
from arqkit.texts.html.rendering import SafeHtml, formula_html, read_text
from arqkit.texts.html.sanitizer import clean_title_and_body
from arqkit.texts.maths.typesetting import presentation_mathml, typeset
from retrieval.selectors import Sources
from retrieval.services.indexes import Progress, built_index

INDEX_VERSION = 2
"""Increase it with every change of the trees, so that no older index is opened."""
NAME, OPTIONS = "tangent-s", {"version": INDEX_VERSION}
INSTANCES = 100_000
"""Instances of formulas that are read for a question: few answers have many of the best ones."""


def by_formulas(sources: Sources, settings: Mapping[str, Any], progress: Progress) -> pl.DataFrame:
    """Return the best formulas for each topic, or the answers with the best ones (000, §4.3)."""
    index, rankings = opened_index(build_formulas(sources, progress)), []
    for done, topic in enumerate(sources.topics):
        progress(done, len(sources.topics))
        if mathml := _query(topic):
            query = FormulaQuery(topic.query_id, mathml)
            rankings.append(_ranking(sources, index, query))
    return pl.concat([index.search([]), *rankings])


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
        asked = (typeset(query_latex(query), display=False).mathml or "" for query in queries)
        done = done._replace(mathml=with_matches(done.mathml, asked))
    return formula_html((latex, False), done)


def _ranking(sources: Sources, index: FormulaIndex, query: FormulaQuery) -> pl.DataFrame:
    if TaskKind(sources.task.kind) is TaskKind.FORMULAS:
        return index.search([query])
    formulas = index.search([query], depth=INSTANCES)
    posts = sources.answers_with(formulas["item"])
    answers = formulas.rename({"item": "formula_id"}).join(posts, on="formula_id")
    best = answers.group_by("topic", item="post_id").agg(pl.col("score").max())
    return best.select("topic", "item", "score")


def _query(topic: TopicRecord) -> str | None:
    """Return the MathML of a topic's formula: its own, else the one with the largest layout tree in
    the title or, if that has none, in the body (004 §4.3).
    """
    if topic.latex:
        return query_mathml(topic.latex)
    title, body = clean_title_and_body(topic.title, topic.body, post_id=topic.query_id)
    in_title, in_body = list(_converted(title.html)), list(_converted(body.html))
    return max(in_title or in_body, key=_size, default=None)


def _converted(clean_html: str) -> Iterator[str]:
    yield from filter(None, (presentation_mathml(f.latex) for f in read_text(clean_html).formulas))


def _size(mathml: str) -> int:
    tree, _ = trees_of(mathml)
    return len(tree.labels) if tree else 0


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
