"""The data of a formula's page."""

from __future__ import annotations

from typing import Any, NamedTuple

import polars as pl
from django.utils.safestring import SafeString

from arqkit.texts.posts.snippets import joined, marked
from collection.models import Collection, Post, VisualMap
from collection.selectors.formulas import (
    Form,
    form_of,
    formulas_like,
    history_of,
    instances_of,
    latex_of,
    slt_of,
    thread_questions,
)
from collection.services.lookup import ready_for_formulas
from collection.services.snippets import snippet_html


class ShownFormula(NamedTuple):
    """A formula as its page shows it. `form` is None if the id was replaced; see `history` then."""

    form: Form | None
    instances: pl.DataFrame
    threads: int
    posts: int
    latex: list[tuple[str, int]]
    history: list[dict[str, Any]]
    same: list[Form]
    similar: list[Form]
    slt: str


class FormulaOccurrence(NamedTuple):
    """An instance of a formula with its post."""

    formula_id: str
    post_id: str
    comment_id: str
    kind: str
    latex: str
    thread_id: str
    title: SafeString


def show_formula(
    *, collection: Collection, version: VisualMap, visual_id: str
) -> ShownFormula | None:
    """Return the formula with a visual id, or None if no version ever had the id."""
    form, history = form_of(version, visual_id), history_of(collection, visual_id)
    if form is None and not history:
        return None
    instances = instances_of(collection, version, [visual_id])
    same: list[Form] = []
    similar: list[Form] = []
    if form:
        looks = formulas_like(
            ready_for_formulas(version), latex=form.latex, layout=form.layout or None, limit=12
        )
        same = [other for other in looks.same if other.visual_id != visual_id]
        similar = looks.similar
    return ShownFormula(
        form=form,
        instances=instances,
        threads=instances["thread_id"].n_unique(),
        posts=instances["post_id"].n_unique(),
        latex=latex_of(instances),
        history=history,
        same=same,
        similar=similar,
        slt=slt_of(collection, form.first_formula_id) if form else "",
    )


def show_instances(*, collection: Collection, instances: pl.DataFrame) -> list[FormulaOccurrence]:
    """Return instances with the titles of their threads."""
    titles = thread_questions(collection, set(instances["thread_id"].drop_nulls()))
    shown = {thread: _title(post) for thread, post in titles.items()}
    columns = ("formula_id", "post_id", "comment_id", "type", "latex", "thread_id")
    rows = instances.with_columns(pl.col(pl.String).fill_null("")).select(columns).rows()
    return [FormulaOccurrence._make((*row, shown.get(row[-1], SafeString("")))) for row in rows]


def _title(post: Post) -> SafeString:
    return snippet_html(joined(marked(post.safe_title, found=())))
