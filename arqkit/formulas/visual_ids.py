"""Visual ids: assign one to instances that look alike, and replace instances with them (§8).

Sources: 000 §5.4, 003 §3, 004 §3 and §5.4.

Instances with the same symbol layout string (`arqkit.formulas.layout`) show the same formula. An
instance without a layout string joins the instances with the same LaTeX, ignoring white space. If
those have layout strings, it takes the most frequent one: the same LaTeX is typeset the same way,
so a failed conversion should not create a second formula. Otherwise, it forms a formula of its own.

An instance with a given id keeps it. All other instances of a formula share one id: the most
frequent given id, else the formula's id in the previous map, else a new number above all numbers
used so far. When a formula of the previous map splits, the id stays with the largest part; ties go
to the larger summed relevance, then to the lowest formula id (004 §3 item 2). When formulas merge,
the merged formula keeps the id of the largest part, with the same tie-breaking. A retired id is
never reused. The order of the input rows does not matter: formula ids sort numerically, and
non-numeric ids come last.

A mapping has the columns formula_id and visual_id. An instance without a visual id counts as a
formula of its own.
"""

from typing import NamedTuple

import polars as pl

from arqkit.labels import LabelScale
from arqkit.ranking import OrderBy, with_order

EXAMPLES = 20  # most formula ids and LaTeX strings listed for one disagreement


class VisualIdMap(NamedTuple):
    """The visual ids of a set of formula instances, and what changed.

    - mapping: formula_id and visual_id of every instance.
    - forms: visual_id, the most frequent latex and layout, instances, first_formula_id.
    - changes: change ("merge" into an id that other instances already had, or "split"), formula_id,
      old_visual_id and new_visual_id of every instance whose id changed.
    - opinion: disagreements with the given ids: kind ("would merge" or "would split"), visual_ids,
      formula_ids and latex (of the first instance of each part), instances (of all parts).
    """

    mapping: pl.DataFrame
    forms: pl.DataFrame
    changes: pl.DataFrame
    opinion: pl.DataFrame


def visual_map(
    instances: pl.DataFrame,
    *,
    previous: pl.DataFrame | None = None,
    relevance: pl.DataFrame | None = None,
    above: int = 0,
) -> VisualIdMap:
    """Return the visual id of every instance, with the differences from the previous map.

    `instances` has the columns formula_id, latex, layout and given; layout and given may be null.
    `previous` holds formula_id and visual_id of the previous map. `relevance` holds formula_id and
    label, judgments only; the sum of the labels breaks ties. `above` is the highest number that any
    earlier map used: new ids start above it, so that a retired id is never reused.
    """
    rows = _with_forms(_in_order(instances))
    parts = _old_parts(rows, previous, relevance)
    form_ids = _own_ids(rows, parts, _highest(rows, previous, above))
    rows = rows.join(form_ids, on="form", how="left", maintain_order="left")
    rows = rows.with_columns(visual_id=pl.coalesce("given", "visual_id"))
    return VisualIdMap(
        rows.select("formula_id", "visual_id"),
        _forms(rows),
        _changes(rows, previous),
        _opinion(rows),
    )


# --- forms: instances that show the same formula


def _number(name: str) -> pl.Expr:
    return pl.col(name).cast(pl.Int64, strict=False)


def _in_order(instances: pl.DataFrame) -> pl.DataFrame:
    """Sort by formula id, drop repeated ids, and number the rows (`place`)."""
    columns = [pl.col(name).cast(pl.String) for name in ("formula_id", "latex")]
    columns += [pl.col(name).cast(pl.String).replace("", None) for name in ("layout", "given")]
    order = [_number("formula_id"), "formula_id", "given", "layout", "latex"]
    rows = instances.select(columns).sort(order, nulls_last=True)
    rows = rows.filter(pl.col("formula_id").ne_missing(pl.col("formula_id").shift()))
    return rows.with_columns(place=pl.int_range(pl.len(), dtype=pl.UInt32))


def _bare(latex: pl.Expr) -> pl.Expr:
    bare = latex.fill_null("").str.replace_all(r"\s+", "")
    for escape, character in (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")):
        bare = bare.str.replace_all(escape, character, literal=True)
    return bare


def _with_forms(rows: pl.DataFrame) -> pl.DataFrame:
    """Add `form`: the place of the first instance that shows the same formula."""
    key = pl.col("layout")
    if rows["layout"].null_count():
        bare = rows.select("place", "layout", bare=_bare(pl.col("latex")))
        orphans = bare.filter(pl.col("layout").is_null())
        with_layout = bare.drop_nulls("layout").join(orphans, on="bare", how="semi")
        most = (
            with_layout.group_by("bare", "layout")
            .len()
            .sort("bare", "len", "layout", descending=[False, True, False])
        )
        adopted = orphans.join(
            most.unique("bare", keep="first", maintain_order=True), on="bare", how="left"
        )
        keys = adopted.select("place", key=pl.coalesce("layout_right", "\\" + pl.col("bare")))
        rows = rows.join(keys, on="place", how="left", maintain_order="left")
        key = pl.coalesce("layout", "key")
    return rows.with_columns(form=pl.col("place").min().over(key)).drop("key", strict=False)


# --- ids


def _old_parts(
    rows: pl.DataFrame, previous: pl.DataFrame | None, relevance: pl.DataFrame | None
) -> pl.DataFrame:
    """Return the parts of each old id: old, form, len, label, place.

    A part is the instances of one form that had the same old id: their number (`len`), their summed
    relevance (`label`) and the place of the first. Given ids and forms with a given id are left
    out.
    """
    if previous is None:
        previous = rows.clear().select("formula_id", visual_id="given")
    with_ids = rows.drop_nulls("given")
    free = rows.join(with_ids.select("form").unique(), on="form", how="anti").select(
        "formula_id", "form", "place"
    )
    old = previous.select(
        pl.col("formula_id").cast(pl.String), old=pl.col("visual_id").cast(pl.String)
    )
    old = old.join(with_ids.select(old="given").unique(), on="old", how="anti").unique(
        "formula_id", keep="any"
    )
    parts = free.join(old, on="formula_id")
    if relevance is None:
        parts = parts.with_columns(label=pl.lit(0.0))
    else:
        labels = relevance.select(
            pl.col("formula_id").cast(pl.String), label=pl.col("label").cast(pl.Float64)
        )
        parts = parts.join(
            labels.group_by("formula_id").agg(pl.col("label").sum()), on="formula_id", how="left"
        )
    return parts.group_by("old", "form").agg(
        pl.len(), pl.col("label").fill_null(0.0).sum(), pl.col("place").min()
    )


def _best(parts: pl.DataFrame, group: str) -> pl.DataFrame:
    """Keep the largest part of each group; ties by summed relevance, then lowest formula id."""
    ordered = parts.sort(group, "len", "label", "place", descending=[False, True, True, False])
    return ordered.unique(group, keep="first", maintain_order=True)


def _own_ids(rows: pl.DataFrame, parts: pl.DataFrame, highest: int) -> pl.DataFrame:
    """Return the id of each form for its instances without a given id: form, visual_id."""
    form_counts = (
        rows.drop_nulls("given").group_by("form", "given").agg(pl.len(), pl.col("place").min())
    )
    named = _best(form_counts.with_columns(label=pl.lit(0.0)), "form").select(
        "form", visual_id="given"
    )
    inherited = _best(_best(parts, "old"), "form").select("form", visual_id="old")
    form_ids = pl.concat([named, inherited])
    new = rows.select(pl.col("form").unique()).join(form_ids, on="form", how="anti").sort("form")
    number = pl.int_range(highest + 1, highest + 1 + pl.len(), dtype=pl.Int64).cast(pl.String)
    return pl.concat([form_ids, new.with_columns(visual_id=number)])


def _highest(rows: pl.DataFrame, previous: pl.DataFrame | None, above: int) -> int:
    id_columns = (
        [rows["given"]]
        if previous is None
        else [rows["given"], previous["visual_id"].cast(pl.String)]
    )
    numbers = [series.cast(pl.Int64, strict=False).max() for series in id_columns]
    return max([above, *(number for number in numbers if isinstance(number, int))])


# --- columns of the result


def _of_most(rows: pl.DataFrame, column: str) -> pl.DataFrame:
    """Return the most frequent value of a column for each formula; ties by the alphabet."""
    counted = (
        rows.select("visual_id", column).drop_nulls(column).group_by("visual_id", column).len()
    )
    ordered = counted.sort("visual_id", "len", column, descending=[False, True, False])
    return ordered.unique("visual_id", keep="first", maintain_order=True).drop("len")


def _forms(rows: pl.DataFrame) -> pl.DataFrame:
    counted = rows.group_by("visual_id").agg(
        instances=pl.len().cast(pl.UInt32), place=pl.col("place").min()
    )
    forms = counted.join(_of_most(rows, "latex"), on="visual_id", how="left")
    forms = forms.join(_of_most(rows, "layout"), on="visual_id", how="left").sort("place")
    first = (
        pl.lit(rows["formula_id"]).gather(pl.col("place"))
        if len(forms)
        else pl.lit(None, pl.String)
    )
    return forms.select("visual_id", "latex", "layout", "instances", first_formula_id=first)


def _changes(rows: pl.DataFrame, previous: pl.DataFrame | None) -> pl.DataFrame:
    if previous is None:
        previous = rows.clear().select("formula_id", "visual_id")
    old = previous.select(
        pl.col("formula_id").cast(pl.String), old_visual_id=pl.col("visual_id").cast(pl.String)
    )
    both = rows.select("formula_id", new_visual_id="visual_id").join(
        old, on="formula_id", maintain_order="left"
    )
    both = both.with_columns(apart=pl.col("new_visual_id").n_unique().over("old_visual_id") > 1)
    moved = both.filter(pl.col("old_visual_id") != pl.col("new_visual_id"))
    is_old_id = moved["new_visual_id"].is_in(old["old_visual_id"].unique().implode())
    is_still_used = moved["old_visual_id"].is_in(rows["visual_id"].unique().implode())
    change = (
        pl.when((pl.lit(is_still_used) | pl.col("apart")) & ~pl.lit(is_old_id))
        .then(pl.lit("split"))
        .otherwise(pl.lit("merge"))
    )
    return moved.select("formula_id", "old_visual_id", "new_visual_id", change=change).select(
        "change", "formula_id", "old_visual_id", "new_visual_id"
    )


def _opinion(rows: pl.DataFrame) -> pl.DataFrame:
    """List forms with several given ids and given ids with several forms, largest first."""
    with_ids = rows.drop_nulls("given").select("form", "given", "place", "formula_id", "latex")
    parts = with_ids.group_by("form", "given").agg(
        pl.len(), pl.col("place", "formula_id", "latex").sort_by("place").first()
    )
    parts = parts.sort("len", "place", descending=[True, False])
    return pl.concat(
        [_disagreeing(parts, "form", "would merge"), _disagreeing(parts, "given", "would split")]
    )


def _disagreeing(parts: pl.DataFrame, group: str, kind: str) -> pl.DataFrame:
    several = parts.filter(pl.len().over(group) > 1).group_by(group, maintain_order=True)
    rows = several.agg(
        visual_ids=pl.col("given").unique(maintain_order=True).head(EXAMPLES),
        formula_ids=pl.col("formula_id").head(EXAMPLES),
        latex=pl.col("latex").head(EXAMPLES),
        instances=pl.col("len").sum().cast(pl.UInt32),
        place=pl.col("place").min(),
    )
    rows = rows.sort("instances", "place", descending=[True, False])
    return rows.select(
        pl.lit(kind).alias("kind"), "visual_ids", "formula_ids", "latex", "instances"
    )


def distinct_visual(
    index: pl.DataFrame, mapping: pl.DataFrame | None, *, by: OrderBy = "score"
) -> pl.DataFrame:
    """Return a run's index (ordered `by`) with one row for each visual id of a topic, reordered.

    Each visual id keeps its highest-ranked instance, with all other columns of that row. Ties
    between visual ids are broken by visual id, not by formula id (see `with_order`), as in the
    labs' pipeline, which hands visual ids and their best scores to trec_eval. Without a mapping,
    the items are taken to be visual ids.
    """
    rows = _with_visual_items(index, mapping).sort("topic", "order")
    first_rows = rows.unique(["topic", "item"], keep="first", maintain_order=True)
    return with_order(first_rows, by=by)


def as_formulas(judged: pl.DataFrame, mapping: pl.DataFrame) -> pl.DataFrame:
    """Return judged rows with `item` set to the current visual id of each instance (`doc_id`).

    An instance without a visual id becomes its own item.
    """
    named = _with_visual_items(judged.with_columns(item="doc_id"), mapping)
    return named.select(judged.columns)


def highest_labels(rows: pl.DataFrame, scale: LabelScale) -> pl.DataFrame:
    """Return the highest label of each item: topic, item, label; in the order of the rows.

    An item without any judgment keeps its label that is not a judgment (protocol §7).
    """
    judged = pl.col("label").filter(scale.is_judged()).max()
    return rows.group_by("topic", "item", maintain_order=True).agg(
        judged.fill_null(pl.col("label").max())
    )


def _with_visual_items(rows: pl.DataFrame, mapping: pl.DataFrame | None) -> pl.DataFrame:
    if mapping is None:
        return rows
    visual_ids = (
        mapping.select(item=pl.col("formula_id"), visual=pl.col("visual_id"))
        .drop_nulls()
        .unique("item")
    )
    joined = rows.join(visual_ids, on="item", how="left", maintain_order="left")
    return joined.with_columns(item=pl.coalesce("visual", "item")).drop("visual")
