"""Where the query formula of a topic stands in a post."""

from __future__ import annotations

from collections.abc import Iterable

from arqlab.ir.formulas.layout import layout_string
from arqlab.texts.html.sanitizer import FoundFormula
from arqlab.texts.maths.typesetting import presentation_mathml


def places_of(formulas: Iterable[FoundFormula], *, formula_id: str, latex: str) -> frozenset[str]:
    """Return the ids of the formulas that are the query formula: the one with its id, else those with
    its LaTeX but for white space, else those that look the same when they are typeset. None for a
    topic without a query formula."""
    found = list(formulas)
    if any(formula.formula_id == formula_id for formula in found if formula_id):
        return frozenset({formula_id})
    if not latex.strip():
        return frozenset()
    for kind in (_bare, _layout):
        wanted = kind(latex)
        if wanted and (
            same := frozenset(
                formula.formula_id for formula in found if kind(formula.latex) == wanted
            )
        ):
            return same
    return frozenset()


def _bare(latex: str) -> str:
    """The LaTeX without white space."""
    return "".join(latex.split())


def _layout(latex: str) -> str | None:
    """What the formula looks like, as visual ids have it."""
    mathml = presentation_mathml(latex)
    return layout_string(mathml) if mathml else None
