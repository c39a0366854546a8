"""The beginnings of the items that rankings list, with links to their posts."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote, urlencode

import polars as pl
from django.utils.safestring import SafeString

from arqkit.records import ItemKind
from arqkit.texts.html.plain_text import plain_html
from arqkit.texts.html.rendering import render_formula
from arqkit.texts.posts.snippets import Part, joined, snippet
from arqlab.core.models import Corrections, Lab
from arqlab.core.selectors import corrections_of
from collection.models import Post
from collection.selectors.collections import collection_of
from collection.selectors.formulas import FormulaShown, formulas_shown
from collection.selectors.threads import corrected_post, posts_of
from collection.services.addresses import post_url
from collection.services.lookup import snippet_html

_NOTHING = SafeString("")
LENGTH = 160  # characters
KEPT = 2048
"""How many texts with their snippets a process keeps: about 10 MB."""
_FORMULAS = (ItemKind.FORMULA_IDS, ItemKind.VISUAL_IDS)


@dataclass(frozen=True)
class ItemText:
    """The beginning of an item as HTML, and the address of its post; empty if unknown or closed."""

    html: SafeString = _NOTHING
    url: str = ""


def item_texts(
    rows: pl.DataFrame, *, items: ItemKind, lab: Lab, closed: Set[str]
) -> list[ItemText]:
    """Return the texts of rows with the columns source and, for Task 3, answer.

    `items` is the type of the ids in source. Nothing of the threads in `closed` is shown.
    """
    corrections = corrections_of(lab)
    if items in _FORMULAS:
        return _formulas(rows["source"], items, lab, closed, corrections)
    if items is ItemKind.ANSWERS:
        answers = rows["answer"] if "answer" in rows.columns else [""] * rows.height
        return [ItemText(_snippet(plain_html(answer or "", prefix=""))) for answer in answers]
    found = posts_of(lab, rows["source"])
    return [_post(found.get(item), item, lab, closed, corrections) for item in rows["source"]]


def _post(
    post: Post | None, item: str, lab: Lab, closed: Set[str], corrections: Corrections
) -> ItemText:
    if post is None or _thread_of(post, corrections.threads) in closed:
        return ItemText()
    shown = corrected_post(post, item, corrections)
    return ItemText(_snippet(shown.safe_body if shown else ""), post_url(lab.slug, item))


def _thread_of(post: Post, moved: Mapping[str, str]) -> str:
    return moved.get(post.post_id, post.thread_id)


def _snippet(html: str) -> SafeString:
    return snippet_html(_parts(html))


@lru_cache(maxsize=KEPT)
def _parts(html: str) -> tuple[Part, ...]:
    """Return the parts of a snippet. Pages of rankings show the same posts again and again."""
    return tuple(joined(snippet(html, length=LENGTH)))


def _formulas(
    ids: pl.Series, items: ItemKind, lab: Lab, closed: Set[str], corrections: Corrections
) -> list[ItemText]:
    collection = collection_of(lab)
    are_visual = items is ItemKind.VISUAL_IDS
    known = formulas_shown(collection, ids, are_visual=are_visual) if collection else {}
    return [_formula(known.get(one), lab, closed, corrections) for one in ids]


def _formula(
    formula: FormulaShown | None, lab: Lab, closed: Set[str], corrections: Corrections
) -> ItemText:
    if formula is None or formula.thread_id in closed:
        return ItemText()
    shown = render_formula(corrections.formulas.get(formula.latex, formula.latex))
    page = post_url(lab.slug, formula.post_id).partition("#")[0]
    name = formula.formula_id
    url = f"{page}?{urlencode({'formula': name})}#formula-{quote(name)}"
    return ItemText(SafeString(shown), url)
