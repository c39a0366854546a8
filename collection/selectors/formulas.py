"""Queries on formulas: similar formulas, instances, and the history of visual ids."""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

import polars as pl
from django.db.models.fields.files import FieldFile

from arqkit.formulas.similarity import similar_forms
from collection.models import Collection, Post, VisualMap
from collection.selectors.collections import scan_columns
from collection.selectors.visual_maps import newest_map

FORM = ("visual_id", "latex", "layout", "instances", "first_formula_id")
SAME_SHOWN = 50
LATEX_SHOWN = 30
HISTORY_SHOWN = 200


class Form(NamedTuple):
    """A visually distinct formula with the most frequent LaTeX and layout string of its instances.

    `similarity` to the query is Dice's coefficient: 1 for the same layout string, else less.
    """

    visual_id: str
    latex: str
    layout: str
    instances: int
    first_formula_id: str
    similarity: float = 1.0

    @property
    def percent(self) -> int:
        """Return the similarity in percent. Only the same formula has 100%."""
        return min(99, round(100 * self.similarity)) if self.similarity < 1 else 100


class FormulaShown(NamedTuple):
    """A formula instance with its LaTeX and the post that contains it."""

    formula_id: str
    post_id: str
    thread_id: str
    latex: str


class FormulaMatches(NamedTuple):
    """The matches of a formula: the same formulas, and similar ones, most similar first."""

    same: list[Form]
    similar: list[Form]

    @property
    def all(self) -> list[Form]:
        """Return all matches, the same formulas first."""
        return [*self.same, *self.similar]


def formulas_like(
    version: VisualMap, *, latex: str, layout: str | None, limit: int = 12
) -> FormulaMatches:
    """Return the formulas like a layout string, else like LaTeX; without pairs, the same ones."""
    if not (layout and version.pairs):
        return FormulaMatches(
            _forms(scan_columns(version.forms).filter(_is_same(latex, layout))), []
        )
    similar_rows = similar_forms(scan_columns(version.pairs), layout, limit=limit + SAME_SHOWN)
    # The same pairs in another order are another formula, so keep all forms with the same pairs and
    # compare their layout strings below.
    similar_rows = similar_rows.filter(
        (pl.col("similarity") == 1) | (pl.int_range(pl.len()) < limit + 1)
    )
    forms = _numbered(version, similar_rows)
    forms.sort(key=lambda form: (-form.similarity, -form.instances))
    same = [form for form in forms if form.layout == layout]
    similar = [
        form._replace(similarity=min(form.similarity, 0.995))
        for form in forms
        if form.layout != layout
    ]
    return FormulaMatches(same, similar[:limit])


def _numbered(version: VisualMap, similar: pl.DataFrame) -> list[Form]:
    """Return the forms for rows of form (a row number) and similarity; read only these rows."""
    if similar.is_empty():
        return []
    forms = scan_columns(version.forms).select(*FORM)
    rows = pl.concat([forms.slice(row, 1) for row in similar["form"]]).collect()
    rows = rows.with_columns(pl.col("latex", "layout").fill_null(""), similar["similarity"])
    return list(map(Form._make, rows.rows()))


def form_of(version: VisualMap, visual_id: str) -> Form | None:
    """Return a formula by its visual id, or None if the version does not have it."""
    forms = _forms(scan_columns(version.forms).filter(pl.col("visual_id") == visual_id))
    return forms[0] if forms else None


def visual_id_of(version: VisualMap, formula_id: str) -> str | None:
    """Return the visual id of an instance, or None if the version does not have the instance."""
    return _value_of(version.mapping, formula_id, "visual_id")


def visual_ids_of(version: VisualMap, formula_ids: Iterable[str]) -> dict[str, str]:
    """Return the visual ids of the instances that the version has, by formula id."""
    return _values_by(version.mapping, "formula_id", formula_ids, "visual_id")


def instances_of(collection: Collection, version: VisualMap, visual_ids: list[str]) -> pl.DataFrame:
    """Return the instances of formulas in the order of `visual_ids`, then of the index.

    Columns: visual_id, formula_id, post_id, thread_id, type, comment_id, latex.
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


def formulas_shown(
    collection: Collection, ids: Iterable[str], *, are_visual: bool, version: int | None = None
) -> dict[str, FormulaShown]:
    """Return formula instances by their ids, or the first instances of visual ids.

    The visual ids are those of a version, or of the newest one.
    """
    forms = _forms_of(collection, version) if are_visual else None
    if not collection.formulas_index or (are_visual and forms is None):
        return {}
    names = {item_id: item_id for item_id in ids}
    if forms:
        names = _values_by(forms.forms, "visual_id", names, "first_formula_id")
    formula_ids = pl.Series(list(set(names.values())), dtype=pl.String)
    index = scan_columns(collection.formulas_index)
    index = index.filter(pl.col("formula_id").is_in(formula_ids.implode()))
    rows = index.select(pl.col(FormulaShown._fields).fill_null("")).collect().rows()
    instances = {row[0]: FormulaShown(*row) for row in rows}
    return {item_id: instances[name] for item_id, name in names.items() if name in instances}


class Spelling(NamedTuple):
    """The LaTeX of instances of a formula, and their number."""

    latex: str
    instances: int


class FormulaChange(NamedTuple):
    """A change of a visual id in a version of the visual ids."""

    version: int
    made_at: datetime
    change: str
    old_visual_id: str
    new_visual_id: str
    instances: int


def latex_of(instances: pl.DataFrame) -> list[Spelling]:
    """Return the distinct LaTeX of the instances with counts, the most frequent first."""
    counted = instances.group_by("latex").agg(number=pl.len())
    counted = counted.sort("number", "latex", descending=[True, False])
    return [
        Spelling(str(latex or ""), int(number))
        for latex, number in counted.head(LATEX_SHOWN).rows()
    ]


def history_of(collection: Collection, visual_id: str) -> list[FormulaChange]:
    """Return the changes of a visual id, the newest version first."""
    rows: list[FormulaChange] = []
    concerned = (pl.col("old_visual_id") == visual_id) | (pl.col("new_visual_id") == visual_id)
    for version in collection.visual_maps.exclude(changes="").order_by("-version"):
        changes = scan_columns(version.changes).filter(concerned)
        groups = changes.group_by("change", "old_visual_id", "new_visual_id")
        counted = groups.agg(instances=pl.len())
        ordered = counted.sort(
            "instances", "old_visual_id", "new_visual_id", descending=[True, False, False]
        )
        rows.extend(
            FormulaChange(version.version, version.made_at, *change)
            for change in ordered.collect().iter_rows()
        )
    return rows[:HISTORY_SHOWN]


def slt_of(collection: Collection, formula_id: str) -> str:
    """Return the symbol layout tree (MathML) of an instance from the index, or an empty string."""
    return _value_of(collection.slt_index, formula_id, "mathml") or ""


def post_of_formula(collection: Collection, formula_id: str) -> str:
    """Return the id of the post that contains a formula instance, or an empty string."""
    return _value_of(collection.formulas_index, formula_id, "post_id") or ""


def thread_questions(collection: Collection, thread_ids: set[str]) -> dict[str, Post]:
    """Return the questions of threads by thread id, only with the fields needed for a title."""
    questions = Post.objects.filter(
        collection=collection, thread_id__in=thread_ids, kind=Post.Kind.QUESTION
    )
    return {
        post.thread_id: post
        for post in questions.only("post_id", "thread_id", "title", "clean_title", "rules", "score")
    }


def _forms_of(collection: Collection, version: int | None) -> VisualMap | None:
    if version is None:
        return newest_forms(collection)
    return collection.visual_maps.filter(version=version).first()


def newest_forms(collection: Collection) -> VisualMap | None:
    """Return the newest visual ids, or None if the collection has no formulas."""
    return newest_map(collection) if collection.formulas_index else None


def _value_of(file: FieldFile, formula_id: str, column: str) -> str | None:
    """Return the value of an instance, or None if there is no file or it lacks the instance."""
    if not file:
        return None
    rows = scan_columns(file).filter(pl.col("formula_id") == formula_id).select(column).collect()
    value = rows.item(0, 0) if rows.height else None
    return None if value is None else str(value)


def _values_by(file: FieldFile, key: str, ids: Iterable[str], column: str) -> dict[str, str]:
    """Return the values of a column for the rows with some ids, by id."""
    keys = pl.Series(list(ids), dtype=pl.String)
    rows = scan_columns(file).filter(pl.col(key).is_in(keys.implode()))
    return dict(rows.select(key, column).collect().iter_rows())


def _forms(rows: pl.LazyFrame) -> list[Form]:
    ordered = rows.select(*FORM).sort("instances", "visual_id", descending=[True, False])
    texts = pl.col("latex", "layout").fill_null("")
    rows_shown = ordered.head(SAME_SHOWN).with_columns(texts).collect().rows()
    return [Form(*row) for row in rows_shown]


def _is_same(latex: str, layout: str | None) -> pl.Expr:
    if layout:
        return pl.col("layout") == layout
    bare = pl.col("latex").str.replace_all(r"\s+", "")
    return bare == "".join(latex.split())
