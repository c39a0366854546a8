"""What is read of formulas: those that look like one, and the page of one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import polars as pl

from arqlab.ir.formulas.similarity import similar_forms
from collection.models import Collection, Post, VisualMap
from collection.selectors.collections import scan_columns
from collection.selectors.visual_maps import newest_map

FORM = ("visual_id", "latex", "layout", "instances", "first_formula_id")
SAME_SHOWN = 50
LATEX_SHOWN = 30
HISTORY_SHOWN = 200


class Form(NamedTuple):
    """A visually distinct formula: its id, the LaTeX and layout string of most instances, and how
    many there are.

    `similarity` to what was asked for is 1 for the same layout string, and less for others (Dice's
    coefficient).
    """

    visual_id: str
    latex: str
    layout: str
    instances: int
    first_formula_id: str
    similarity: float = 1.0

    @property
    def percent(self) -> int:
        """Return the similarity for people; only the same formula is 100% alike."""
        return min(99, round(100 * self.similarity)) if self.similarity < 1 else 100


class FormulaMatches(NamedTuple):
    """The formulas that look like one: the same, and the similar ones, most similar first."""

    same: list[Form]
    similar: list[Form]

    @property
    def all(self) -> list[Form]:
        """Return both, the same first."""
        return [*self.same, *self.similar]


def formulas_like(
    version: VisualMap, *, latex: str, layout: str | None, limit: int = 12
) -> FormulaMatches:
    """Find the formulas that look like one, given its layout string, or without one its LaTeX.

    Without an index of pairs only the same formula is found.
    """
    if not (layout and version.pairs):
        return FormulaMatches(
            _forms(scan_columns(version.forms).filter(_is_same(latex, layout))), []
        )
    found = similar_forms(scan_columns(version.pairs), layout, limit=limit + SAME_SHOWN)
    # The same pairs in another order are not the same formula, so all with the same pairs are
    # looked at.
    found = found.filter((pl.col("similarity") == 1) | (pl.int_range(pl.len()) < limit + 1))
    forms = _numbered(version, found)
    forms.sort(key=lambda form: (-form.similarity, -form.instances))
    same = [form for form in forms if form.layout == layout]
    similar = [
        form._replace(similarity=min(form.similarity, 0.995))
        for form in forms
        if form.layout != layout
    ]
    return FormulaMatches(same, similar[:limit])


def _numbered(version: VisualMap, found: pl.DataFrame) -> list[Form]:
    """Return the forms of some rows (form, similarity): only the parts of the file that hold them are
    read.
    """
    if found.is_empty():
        return []
    forms = scan_columns(version.forms).select(*FORM)
    rows = pl.concat([forms.slice(row, 1) for row in found["form"]]).collect()
    rows = rows.with_columns(pl.col("latex", "layout").fill_null(""), found["similarity"])
    return list(map(Form._make, rows.rows()))


def form_of(version: VisualMap, visual_id: str) -> Form | None:
    """Return a formula by its visual id; None where the version does not have it."""
    return next(
        iter(_forms(scan_columns(version.forms).filter(pl.col("visual_id") == visual_id))), None
    )


def visual_id_of(version: VisualMap, formula_id: str) -> str | None:
    """Return the visual id of an instance; None where the version does not have the instance."""
    found = (
        scan_columns(version.mapping)
        .filter(pl.col("formula_id") == formula_id)
        .select("visual_id")
        .collect()
    )
    return str(found.item(0, 0)) if found.height else None


def visual_ids_of(version: VisualMap, formula_ids: Iterable[str]) -> dict[str, str]:
    """Return the visual ids of instances; those that the version does not have are left out."""
    wanted = pl.Series(list(formula_ids), dtype=pl.String)
    found = scan_columns(version.mapping).filter(pl.col("formula_id").is_in(wanted.implode()))
    return dict(found.select("formula_id", "visual_id").collect().iter_rows())


def instances_of(collection: Collection, version: VisualMap, visual_ids: list[str]) -> pl.DataFrame:
    """Return the instances of formulas: visual_id, formula_id, post_id, thread_id, type, comment_id,
    latex.

    They stand in the order of the visual ids, then in that of the index.
    """
    order = pl.DataFrame(
        {"visual_id": visual_ids, "place": range(len(visual_ids))},
        schema_overrides={"visual_id": pl.String},
    )
    mapped = scan_columns(version.mapping).filter(pl.col("visual_id").is_in(visual_ids)).collect()
    columns = ("formula_id", "post_id", "thread_id", "type", "comment_id", "latex")
    index = scan_columns(collection.formulas_index).select(columns).with_row_index("row")
    index = index.filter(pl.col("formula_id").is_in(mapped["formula_id"].implode()))
    joined = index.collect().join(mapped, on="formula_id").join(order, on="visual_id")
    return joined.sort("place", "row").select("visual_id", *columns)


def latex_of(instances: pl.DataFrame) -> list[tuple[str, int]]:
    """Return the ways in which the instances were written, with their counts, most used first."""
    counted = (
        instances.group_by("latex")
        .agg(number=pl.len())
        .sort("number", "latex", descending=[True, False])
    )
    return [(str(latex or ""), int(number)) for latex, number in counted.head(LATEX_SHOWN).rows()]


def history_of(collection: Collection, visual_id: str) -> list[dict[str, Any]]:
    """Return what versions of the visual ids did to one id, the newest version first.

    A row is version, made_at, change, old_visual_id, new_visual_id and instances.
    """
    rows: list[dict[str, Any]] = []
    concerned = (pl.col("old_visual_id") == visual_id) | (pl.col("new_visual_id") == visual_id)
    for version in (
        VisualMap.objects.filter(collection=collection).exclude(changes="").order_by("-version")
    ):
        changes = scan_columns(version.changes).filter(concerned)
        counted = changes.group_by("change", "old_visual_id", "new_visual_id").agg(
            instances=pl.len()
        )
        ordered = counted.sort(
            "instances", "old_visual_id", "new_visual_id", descending=[True, False, False]
        )
        rows.extend(
            row | {"version": version.version, "made_at": version.made_at}
            for row in ordered.collect().to_dicts()
        )
    return rows[:HISTORY_SHOWN]


def slt_of(collection: Collection, formula_id: str) -> str:
    """Return the symbol layout tree of an instance as the index brought it; empty without one."""
    if not collection.slt_index:
        return ""
    found = (
        scan_columns(collection.slt_index)
        .filter(pl.col("formula_id") == formula_id)
        .select("mathml")
        .collect()
    )
    return str(found.item(0, 0) or "") if found.height else ""


def thread_questions(collection: Collection, thread_ids: set[str]) -> dict[str, Post]:
    """Return the questions of threads, by thread."""
    questions = Post.objects.filter(
        collection=collection, thread_id__in=thread_ids, kind=Post.Kind.QUESTION
    )
    return {
        post.thread_id: post
        for post in questions.only("post_id", "thread_id", "title", "clean_title", "rules", "score")
    }


def newest_forms(collection: Collection) -> VisualMap | None:
    """Return the visual ids that are used, where the collection has formulas."""
    return newest_map(collection) if collection.formulas_index else None


def _forms(rows: pl.LazyFrame) -> list[Form]:
    found = (
        rows.select(*FORM)
        .sort("instances", "visual_id", descending=[True, False])
        .head(SAME_SHOWN)
        .collect()
    )
    return [
        Form(*row) for row in found.with_columns(pl.col("latex", "layout").fill_null("")).rows()
    ]


def _is_same(latex: str, layout: str | None) -> pl.Expr:
    if layout:
        return pl.col("layout") == layout
    bare = pl.col("latex").str.replace_all(r"\s+", "")
    return bare == "".join(latex.split())
