"""What is read of a collection: its columns of ids, kept in the process."""

from __future__ import annotations

from functools import lru_cache
from io import BytesIO

import polars as pl
from django.core.files.storage import FileSystemStorage, storages
from django.db.models.fields.files import FieldFile

from arqlab.core.errors import UserError
from arqlab.core.models import Lab
from collection.models import Collection, VisualMap

# Columns are stored anew under a new name, so an entry never goes stale. Those of 28 million
# formulas take more than two gigabytes (five columns of ids, 16 bytes a cell), so few are kept.
CACHED_FRAMES = 2


def collection_of(lab: Lab) -> Collection | None:
    """Return the collection that a lab searches, if it has one."""
    return Collection.objects.filter(labs=lab).first()


def collection_named(slug: str) -> Collection:
    """Return a collection by its slug. Raises `UserError` that names those there are."""
    found = Collection.objects.filter(slug=slug).first()
    if found is None:
        known = (
            ", ".join(Collection.objects.values_list("slug", flat=True))
            or "none yet; load a lab first"
        )
        raise UserError(
            f"There is no collection {slug}. The collections are: {known}.",
            code="unknown-collection",
        )
    return found


def posts_frame(lab: Lab) -> pl.DataFrame | None:
    """Return post_id, type (question or answer) and thread_id of the lab's posts; None when they were
    not loaded.
    """
    found = collection_of(lab)
    return _posts(str(found.posts_index.name)) if found and found.posts_index else None


def formulas_frame(lab: Lab) -> pl.DataFrame | None:
    """Return formula_id, post_id, thread_id, type and visual_id of the lab's formulas; None without
    them.

    The visual ids are those of the newest version. Before the first they are those that the index
    gives, else null.
    """
    found = collection_of(lab)
    if found is None or not found.formulas_index:
        return None
    return _formulas(str(found.formulas_index.name), str(_newest_mapping(found) or ""))


def visual_ids(lab: Lab) -> pl.DataFrame | None:
    """Return formula_id and visual_id of the formulas whose visual id is known; None without
    formulas.
    """
    formulas = formulas_frame(lab)
    return None if formulas is None else formulas.select("formula_id", "visual_id").drop_nulls()


def visual_ids_among(lab: Lab, formula_ids: pl.Series) -> pl.DataFrame | None:
    """Return of a few formulas what `visual_ids` gives, without keeping the columns of all the
    others.
    """
    found = collection_of(lab)
    if found is None or not found.formulas_index:
        return None
    wanted = pl.col("formula_id").is_in(formula_ids.unique().implode())
    columns = _joined(str(found.formulas_index.name), str(_newest_mapping(found) or ""), wanted)
    return columns.select("formula_id", "visual_id").drop_nulls().collect()


def scan_columns(file: FieldFile | str) -> pl.LazyFrame:
    """Open columns in the storage without reading more of them than is asked for, where its files
    are local.
    """
    storage = storages["default"]
    if isinstance(storage, FileSystemStorage):
        return pl.scan_parquet(storage.path(str(file)))
    with storage.open(str(file), "rb") as opened:
        return pl.scan_parquet(BytesIO(opened.read()))


def _newest_mapping(collection: Collection) -> str | None:
    versions = VisualMap.objects.filter(collection=collection).order_by("-version")
    return versions.values_list("mapping", flat=True).first()


@lru_cache(maxsize=CACHED_FRAMES)
def _posts(name: str) -> pl.DataFrame:
    return scan_columns(name).collect()


@lru_cache(maxsize=CACHED_FRAMES)
def _formulas(name: str, mapping: str) -> pl.DataFrame:
    return _joined(name, mapping, pl.lit(True)).collect()


def _joined(name: str, mapping: str, wanted: pl.Expr) -> pl.LazyFrame:
    """Open the columns of those formulas that are wanted, with the visual ids of a mapping before
    those of the index.
    """
    columns = ("formula_id", "post_id", "thread_id", "type")
    index = scan_columns(name).filter(wanted).select(*columns, visual_id="given_visual_id")
    if not mapping:
        return index
    ids = scan_columns(mapping).filter(wanted).select("formula_id", newest="visual_id")
    joined = index.join(ids, on="formula_id", how="left", maintain_order="left")
    return joined.with_columns(visual_id=pl.coalesce("newest", "visual_id")).drop("newest")
