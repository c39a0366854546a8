"""Judged formulas affected by a version of the visual ids, which assessors may judge again."""

from dataclasses import dataclass

import polars as pl
from django.db.models import Q

from arqkit.records import ItemKind
from arqlab.core.models import Lab
from assessment.models import QrelSet
from assessment.qrels.selectors.versions import judgments_of
from collection.models import VisualMap
from collection.selectors.collections import scan_columns
from collection.selectors.visual_maps import JudgedFormula, formula_latex, map_before, map_frame

_TEXTS = ("task", "qrels", "topic", "formula_id", "visual_id_before", "visual_id_after")
SCHEMA = {**dict.fromkeys(_TEXTS, pl.String), "label": pl.Int64, "why": pl.String}


def judged_formulas(collection: str, lab: Lab | None = None) -> JudgedFormula:
    """Return the judged formulas of `lab` and of the labs that search a collection.

    A formula has one row per judgment.
    """
    labs = Q(task__lab=lab) | Q(task__lab__collections__slug=collection)
    judged = judgments_of(QrelSet.objects.filter(labs))
    by_id = judged.filter(qrel_set__items=ItemKind.FORMULA_IDS).values_list(
        "pk", "doc_id", "relevance"
    )
    schema = {"pk": pl.Int64, "formula_id": pl.String, "label": pl.Int64}
    relevance = pl.DataFrame(list(by_id), schema=schema, orient="row").drop("pk")
    visual = judged.filter(qrel_set__items=ItemKind.VISUAL_IDS).values_list("doc_id", flat=True)
    numbers = [
        int(visual_id) for visual_id in visual if visual_id.isascii() and visual_id.isdigit()
    ]
    return JudgedFormula(relevance, max(numbers, default=0))


def affected_judgments(lab: Lab, version: VisualMap) -> pl.DataFrame:
    """Return a lab's judgments of formulas that a version merged or split, with the reasons.

    The columns are those of `SCHEMA`, ordered by task, qrels and topic. Judgments by visual id have
    no formula id.
    """
    before, changes = map_before(version), map_frame(version, "changes")
    if before is None or not changes.height:
        return pl.DataFrame(schema=SCHEMA)
    parts = [_affected_instances(_judged(lab, ItemKind.FORMULA_IDS), version, before, changes)]
    parts.append(_affected_formulas(_judged(lab, ItemKind.VISUAL_IDS), version, changes))
    return pl.concat(parts).select(*SCHEMA).sort("task", "qrels", "topic", maintain_order=True)


def _judged(lab: Lab, items: ItemKind) -> pl.DataFrame:
    rows = judgments_of(QrelSet.objects.filter(task__lab=lab, items=items))
    fields = ("qrel_set__task__slug", "qrel_set__name", "query_id", "doc_id", "relevance")
    ordered = rows.order_by("qrel_set__task__position", "qrel_set__version", "pk")
    schema = dict.fromkeys(("task", "qrels", "topic", "item"), pl.String) | {"label": pl.Int64}
    return pl.DataFrame(list(ordered.values_list(*fields)), schema=schema, orient="row")


def _affected_instances(
    judged: pl.DataFrame, version: VisualMap, before: VisualMap, changes: pl.DataFrame
) -> pl.DataFrame:
    def ids(visual_map: VisualMap, name: str) -> pl.DataFrame:
        is_judged = pl.col("formula_id").is_in(judged["item"].unique().implode())
        return (
            scan_columns(visual_map.mapping).filter(is_judged).collect().rename({"visual_id": name})
        )

    old, new = ids(before, "visual_id_before"), ids(version, "visual_id_after")
    moved = changes.select("formula_id", "change").unique("formula_id")
    rows = judged.rename({"item": "formula_id"})
    rows = rows.join(old, on="formula_id", how="left", maintain_order="left")
    rows = rows.join(new, on="formula_id", how="inner", maintain_order="left")
    rows = rows.join(moved, on="formula_id", how="left", maintain_order="left")
    return _with_reasons(rows, changes, is_changed=pl.col("change").is_not_null())


def _affected_formulas(
    judged: pl.DataFrame, version: VisualMap, changes: pl.DataFrame
) -> pl.DataFrame:
    standing = (
        scan_columns(version.forms).select(visual_id_before="visual_id").with_columns(stands=True)
    )
    olds = changes.select(visual_id_before="old_visual_id").unique()
    gone = olds.join(standing.collect(), on="visual_id_before", how="anti").with_columns(
        is_gone=True
    )
    rows = judged.with_columns(formula_id=pl.lit(None, pl.String), visual_id_before=pl.col("item"))
    rows = rows.join(gone, on="visual_id_before", how="left", maintain_order="left")
    rows = _with_others(rows, changes, "old", target="new").with_columns(
        visual_id_after=pl.when("is_gone").then("target").otherwise("visual_id_before"),
        change=pl.when("is_gone").then(pl.lit("merge")),
    )
    return _with_reasons(rows, changes, is_changed=pl.col("is_gone").fill_null(value=False))


def _with_others(
    rows: pl.DataFrame, changes: pl.DataFrame, side: str, **others: str
) -> pl.DataFrame:
    """Return rows with a list of the ids on the other side of the changes of their own id."""
    id_column = {"old": "visual_id_before", "new": "visual_id_after"}[side]
    lists = {
        name: pl.col(f"{other}_visual_id").unique().sort().str.join(", ")
        for name, other in others.items()
    }
    others_by_id = changes.group_by(pl.col(f"{side}_visual_id").alias(id_column)).agg(**lists)
    return rows.join(others_by_id, on=id_column, how="left", maintain_order="left")


def _with_reasons(
    rows: pl.DataFrame, changes: pl.DataFrame, *, is_changed: pl.Expr
) -> pl.DataFrame:
    """Keep the rows that a change affects; `is_changed` marks rows whose own id changed."""
    rows = _with_others(rows, changes, "new", came="old")
    rows = _with_others(rows, changes, "old", went="new")
    why = (
        pl.when(is_changed & (pl.col("change") == "merge"))
        .then(pl.format("It was merged into {}.", "visual_id_after"))
        .when(is_changed)
        .then(pl.format("It was split off from {}.", "visual_id_before"))
        .when(pl.col("came").is_not_null() & pl.col("went").is_not_null())
        .then(
            pl.format(
                "Instances of {} were merged into it, and instances were split off to {}.",
                "came",
                "went",
            )
        )
        .when(pl.col("came").is_not_null())
        .then(pl.format("Instances of {} were merged into it.", "came"))
        .when(pl.col("went").is_not_null())
        .then(pl.format("Instances were split off from it to {}.", "went"))
    )
    return rows.with_columns(why=why).drop_nulls("why").select(*SCHEMA)


@dataclass(frozen=True, kw_only=True)
class AffectedJudgments:
    """The judgments of formulas that a version of the visual ids merged or split.

    - rows: as of `affected_judgments`, with the formula (`latex`), and the qrels with their task
      (`version`).
    """

    version: VisualMap
    count: int
    rows: pl.DataFrame


def changes_of_version(lab: Lab, version: VisualMap) -> AffectedJudgments:
    """Return a lab's judgments of formulas that a version merged or split, with the formulas."""
    rows = affected_judgments(lab, version)
    rows = rows.with_columns(
        latex=formula_latex(version, rows["visual_id_after"]),
        version=pl.format("{}, {}", "task", "qrels"),
    )
    return AffectedJudgments(version=version, count=rows.height, rows=rows)
