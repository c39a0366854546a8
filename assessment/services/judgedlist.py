"""The list of what an assessor judged, for people to find an item again: by its name, its formula, or how it begins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from django.utils.html import escape, format_html_join
from django.utils.safestring import SafeString

from arqlab.core.html.posthtml import Key, PostText, compose, keys_of, one_formula
from arqlab.core.maths.definitions import Definitions
from arqlab.core.maths.typesetting import Typeset
from arqlab.core.services.formulas import typeset_formulas
from arqlab.ir.posttext import pieces, text_formulas
from assessment.models import Judgment, PoolItem
from assessment.services.items import heading_of

EXCERPT = 80  # characters, those of LaTeX too
_Part = str | PostText  # words, or one formula


class JudgedRow(NamedTuple):
    """A judgment, the item that it is of, what the page calls the instance, and its formula or how its post begins."""

    judgment: Judgment
    item: PoolItem
    heading: str
    html: SafeString


def judged_list(judgments: Iterable[Judgment]) -> list[JudgedRow]:
    """Give judgments, read with instance, item and post, as rows of a list. One query reads the formulas of all."""
    read = [(judgment, _parts(judgment)) for judgment in judgments]
    formulas = typeset_formulas(keys_of(part for _, parts in read for part in parts if isinstance(part, PostText)))
    return [_row(judgment, parts, formulas) for judgment, parts in read]


def _row(judgment: Judgment, parts: list[_Part], formulas: Mapping[Key, Typeset]) -> JudgedRow:
    instance, item = judgment.instance, judgment.instance.item
    shown = ((compose(part, formulas=formulas) if isinstance(part, PostText) else part,) for part in parts)
    heading = heading_of(item, instance.shown_post, instance.post_id)
    return JudgedRow(judgment, item, heading, format_html_join(" ", "{}", shown))


def _parts(judgment: Judgment) -> list[_Part]:
    """Give the formula that was judged, or how the post begins."""
    instance, item, post = judgment.instance, judgment.instance.item, judgment.instance.shown_post
    if item.kind != PoolItem.Kind.VISUAL_IDS:
        return _beginning(post.safe_body if post else escape(item.text))
    found = (*text_formulas(post.safe_title), *text_formulas(post.safe_body)) if post else ()
    latex = next((formula.latex for formula in found if formula.formula_id == instance.doc_id), "")
    return [one_formula(latex, Definitions())]


def _beginning(clean_html: str) -> list[_Part]:
    """Give the first words and formulas of a clean text."""
    parts: list[_Part] = []
    room = EXCERPT
    for piece in pieces(clean_html):
        text = " ".join(piece.split()) if isinstance(piece, str) else piece.latex
        room -= len(text)
        if room < 0:
            parts.append(f"{text[:room]}…" if isinstance(piece, str) else "…")
            break
        parts.append(text if isinstance(piece, str) else one_formula(text, Definitions()))
    return parts
