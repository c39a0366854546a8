"""The list of what an assessor judged, for people to find an item again: by its name, its formula, or how it begins."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from django.utils.html import escape, format_html_join
from django.utils.safestring import SafeString

from arqlab.core.html.posthtml import render_formula
from arqlab.core.models import Lab
from arqlab.ir.posttext import pieces, text_formulas
from assessment.models import Judgment, PoolItem
from assessment.selectors import posts_of
from assessment.services.items import heading_of
from collection.models import Post

EXCERPT = 80  # characters, those of LaTeX too


class JudgedRow(NamedTuple):
    """A judgment, the item that it is of, what the page calls the instance, and its formula or how its post begins."""

    judgment: Judgment
    item: PoolItem
    heading: str
    html: SafeString


def judged_list(judgments: Iterable[Judgment], *, lab: Lab) -> list[JudgedRow]:
    """Give judgments of a lab, read with instance and item, as rows of a list."""
    found = list(judgments)
    posts = posts_of(lab, (judgment.instance.post_id for judgment in found))
    return [_row(judgment, posts.get(judgment.instance.post_id)) for judgment in found]


def _row(judgment: Judgment, post: Post | None) -> JudgedRow:
    instance, item = judgment.instance, judgment.instance.item
    heading = heading_of(item, post, instance.post_id)
    if item.kind != PoolItem.Kind.VISUAL_IDS:
        return JudgedRow(judgment, item, heading, _beginning(post.safe_body if post else escape(item.text)))
    found = (*text_formulas(post.safe_title), *text_formulas(post.safe_body)) if post else ()
    latex = next((formula.latex for formula in found if formula.formula_id == instance.doc_id), "")
    return JudgedRow(judgment, item, heading, render_formula(latex))


def _beginning(clean_html: str) -> SafeString:
    """Give the first words and formulas of a clean text."""
    parts: list[str] = []
    room = EXCERPT
    for piece in pieces(clean_html):
        is_text = isinstance(piece, str)
        text = " ".join(piece.split()) if isinstance(piece, str) else piece.latex
        room -= len(text)
        if room < 0:
            parts.append(f"{text[:room]}…" if is_text else "…")
            break
        parts.append(text if is_text else render_formula(text))
    return format_html_join(" ", "{}", ((part,) for part in parts))
