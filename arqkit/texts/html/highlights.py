"""Occurrences of a topic's query formula in a post."""

from __future__ import annotations

from collections.abc import Iterable

from arqkit.formulas.layout import layout_string
from arqkit.texts.maths.typesetting import presentation_mathml
from arqkit.texts.posts.text import TextFormula


def matching_formulas(
    formulas: Iterable[TextFormula], *, formula_id: str, latex: str
) -> frozenset[str]:
    """Return the ids of the formulas in a post that match the query formula.

    The formula with the query's id matches; else formulas with the same LaTeX, ignoring white
    space; else formulas that look the same when typeset. The result is empty without a query
    formula.
    """
    candidates = list(formulas)
    if any(formula.formula_id == formula_id for formula in candidates if formula_id):
        return frozenset({formula_id})
    if not latex.strip():
        return frozenset()
    for kind in (_bare, _layout):
        wanted = kind(latex)
        if wanted and (
            same := frozenset(
                formula.formula_id for formula in candidates if kind(formula.latex) == wanted
            )
        ):
            return same
    return frozenset()


def _bare(latex: str) -> str:
    return "".join(latex.split())


def _layout(latex: str) -> str | None:
    mathml = presentation_mathml(latex)
    return layout_string(mathml) if mathml else None
