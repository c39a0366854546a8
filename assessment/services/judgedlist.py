"""The list of what an assessor judged, for people to find an item again: by its name, its formula, or how it begins."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from arqlab.ir.posttext import plain_title, text_formulas
from assessment.models import Judgment, PoolItem
from assessment.services.items import heading_of

EXCERPT = 110  # characters


class JudgedRow(NamedTuple):
    """A judgment, the item that it is of, what the page calls the instance, its formula's LaTeX, and how a post begins."""

    judgment: Judgment
    item: PoolItem
    heading: str
    latex: str
    excerpt: str


def judged_list(judgments: Iterable[Judgment]) -> list[JudgedRow]:
    """Give judgments, read with instance, item and post, as rows of a list."""
    return [_row(judgment) for judgment in judgments]


def _row(judgment: Judgment) -> JudgedRow:
    instance, item = judgment.instance, judgment.instance.item
    post = instance.shown_post
    latex, excerpt = "", ""
    if item.kind == PoolItem.Kind.ANSWERS:
        excerpt = " ".join(item.text.split())
    elif post and item.kind == PoolItem.Kind.VISUAL_IDS:
        found = (*text_formulas(post.safe_title), *text_formulas(post.safe_body))
        latex = next((formula.latex for formula in found if formula.formula_id == instance.doc_id), "")
    elif post:
        excerpt = plain_title(post.safe_body)
    shown = excerpt[:EXCERPT].rstrip() + "…" if len(excerpt) > EXCERPT else excerpt
    return JudgedRow(judgment, item, heading_of(item, post, instance.post_id), latex, shown)
