"""The marks of judgments as quotes, for lists of judgments and pages that compare assessors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from arqkit.texts.html.rendering import Key, PostText, compose, keys_of, one_formula
from arqkit.texts.maths.macros import Definitions
from arqkit.texts.maths.typesetting import Typeset
from arqlab.core.services.formulas import typeset_formulas
from assessment.models import Judgment

FORMULA = "\N{OBJECT REPLACEMENT CHARACTER}"  # stands for a formula in the text of a mark


class QuotedMark(NamedTuple):
    """A marked passage with typeset formulas, and whether it is a single formula."""

    html: SafeString
    is_formula: bool


def quoted_marks(
    judgments: Iterable[Judgment], corrected: Mapping[str, str] | None = None
) -> dict[int, list[QuotedMark]]:
    """Return the marks of judgments by the keys of these, in one query for the formulas.

    Judgments without marks have an empty list. LaTeX in `corrected` is shown as its correction.
    """
    read = {one.pk: [(mark, _formulas(mark)) for mark in one.marks] for one in judgments}
    keys = keys_of(text for marks in read.values() for _, texts in marks for text in texts)
    typeset = typeset_formulas(keys, corrected) if keys else {}
    return {
        pk: [
            QuotedMark(_html(mark, texts, typeset), mark["exact"] == FORMULA)
            for mark, texts in marks
        ]
        for pk, marks in read.items()
    }


def _formulas(mark: Mapping[str, Any]) -> list[PostText]:
    return [one_formula(latex, Definitions()) for latex in mark["formulas"]]


def _html(
    mark: Mapping[str, Any], texts: list[PostText], typeset: Mapping[Key, Typeset]
) -> SafeString:
    """Return the text of a mark with its formulas in their places."""
    shown = [compose(text, formulas=typeset) for text in texts]
    words = mark["exact"].split(FORMULA)
    return format_html_join("", "{}{}", zip(words, [*shown, ""], strict=True))
