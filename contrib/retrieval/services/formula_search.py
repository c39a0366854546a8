"""Tangent-S for a lab: formulas for Task 2, and answers for Task 1 by a formula of the question."""

import shutil
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

import polars as pl
from django.conf import settings as server

from arqkit.parts import kept
from arqkit.records import TopicRecord
from arqkit.retrieval.formulas import WEIGHTS, FormulaIndex, FormulaQuery, read_formulas
from arqkit.retrieval.matches import with_matches
from arqkit.retrieval.mathml import marked_wildcards, query_mathml
from arqkit.texts.html.rendering import SafeHtml, formula_html
from arqkit.texts.maths.conversion import converter_name
from arqkit.texts.maths.typesetting import typeset
from contrib.retrieval.selectors import FORMULAS_AT_ONCE, Sources
from contrib.retrieval.services.formula_topics import rank_formulas
from contrib.retrieval.services.indexes import Progress, built_index
from contrib.retrieval.services.timing import Ranked

INDEX_VERSION = 3
"""Increase it with every change of the trees, so that no older index is opened."""
NAME = "tangent-s"
OPTIONS = {"version": INDEX_VERSION, "converter": converter_name(exact=False)}


def formula_search_facts(sources: Sources, settings: Mapping[str, object]) -> Mapping[str, object]:
    """Return the weights of the three alignment scores in both trees, and the converter."""
    layouts, operators = WEIGHTS.tolist()
    converter = OPTIONS["converter"]
    return {
        "weights": {"layout trees": layouts, "operator trees": operators},
        "converter": converter,
    }


def by_formulas(sources: Sources, settings: Mapping[str, object], progress: Progress) -> Ranked:
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
    """Return the folder of the index of formulas, which is built if it is missing.

    It is built in parts, which stay on disk until it is whole: a killed build is resumed.
    """
    total = sources.count_formulas()

    def build(folder: Path) -> None:
        parts = folder / f"parts-of-{FORMULAS_AT_ONCE}"
        done(0)
        read = kept(read_formulas, sources.formulas(), parts, cluster=server.DASK, done=done)
        FormulaIndex.merge(read).save(folder)
        shutil.rmtree(parts)

    def done(finished: int) -> None:
        progress(min(finished * FORMULAS_AT_ONCE, total), total)

    return built_index(sources, name=NAME, options=OPTIONS, build=build, resumes=True)


def matched_formula(latex: str, queries: Iterable[str]) -> SafeHtml:
    """Return an inline formula whose symbols that match a query, each in LaTeX, are marked."""
    done = typeset(latex, display=False)
    if done.mathml:
        query_trees = (
            typeset(marked_wildcards(query), display=False).mathml or "" for query in queries
        )
        done = done._replace(mathml=with_matches(done.mathml, query_trees))
    return formula_html((latex, False), done)
