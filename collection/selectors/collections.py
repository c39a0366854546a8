"""Queries on collections: their Parquet files of ids, cached in the process."""

from functools import lru_cache
from typing import NamedTuple

import polars as pl
from django.db.models.fields.files import FieldFile

from arqkit.records import ItemKind
from arqlab.core.errors import UserError
from arqlab.core.files import kept
from arqlab.core.models import Lab
from collection.models import Collection, Import, VisualMap

# A file with other content has another name, so an entry never goes stale. The columns of 28
# million formulas take more than two gigabytes (five columns of ids, 16 bytes per cell), so only a
# few are cached.
CACHED_FRAMES = 2
GIVEN = "given_visual_id"
EVERY = pl.lit(value=True)


def collection_of(lab: Lab) -> Collection | None:
    """Return the collection that a lab searches, or None."""
    return Collection.objects.filter(labs=lab).first()


def collection_named(slug: str) -> Collection:
    """Return a collection by its slug, or raise `UserError` with a list of the collections."""
    collection = Collection.objects.filter(slug=slug).first()
    if collection is None:
        slugs = ", ".join(Collection.objects.values_list("slug", flat=True))
        message = f"Collection not found: {slug}. Collections: "
        message += f"{slugs or 'none yet; load a lab first'}."
        raise UserError(message, code="unknown-collection")
    return collection


def posts_frame(lab: Lab) -> pl.DataFrame | None:
    """Return post_id, type and thread_id of the lab's posts, or None without posts."""
    collection = collection_of(lab)
    file = collection and collection.posts_index
    return _posts(str(file.name)) if file else None


def formulas_frame(lab: Lab) -> pl.DataFrame | None:
    """Return formula_id, post_id, thread_id, type and visual_id of the lab's formulas, or None.

    The visual ids are those of the newest version. Before the first version they are those given in
    the formula index, or null.
    """
    names = formula_files(lab)
    return _formulas(*names) if names else None


def posts_scan(lab: Lab) -> pl.LazyFrame | None:
    """Return a lazy scan of `posts_frame`, which is read once and not cached."""
    collection = collection_of(lab)
    return scan_columns(collection.posts_index) if collection and collection.posts_index else None


def formulas_scan(lab: Lab) -> pl.LazyFrame | None:
    """Return a lazy scan of `formulas_frame`, which is read once and not cached."""
    names = formula_files(lab)
    return _joined(*names) if names else None


def visual_ids(lab: Lab, version: int | None = None) -> pl.DataFrame | None:
    """Return formula_id and visual_id of formulas with a visual id, or None without formulas.

    They are those of a version, also of formulas that the index lost since, or those used now.
    """
    if version is not None:
        name = visual_ids_file(lab, version)
        return _visual_ids(name) if name else None
    formulas = formulas_frame(lab)
    return None if formulas is None else formulas.select("formula_id", "visual_id").drop_nulls()


def visual_ids_among(
    lab: Lab, formula_ids: pl.Series, version: int | None = None
) -> pl.DataFrame | None:
    """Return `visual_ids` for a few formulas without caching the columns of all formulas."""
    if version is not None:
        name = visual_ids_file(lab, version)
        is_asked = pl.col("formula_id").is_in(formula_ids.unique().implode())
        return _identified(name).filter(is_asked).collect() if name else None
    formulas = formulas_with(lab, "formula_id", formula_ids)
    return None if formulas is None else formulas.select("formula_id", "visual_id").drop_nulls()


def visual_ids_file(lab: Lab, version: int) -> str:
    """Return the name of the file with a version of the lab's visual ids, or "" without one.

    Version 0 are the ids in the formula index, which are used before there is a version.
    """
    collection = collection_of(lab)
    if collection is None:
        return ""
    if not version:
        return str(collection.formulas_index.name or "")
    versions = collection.visual_maps.filter(version=version)
    return str(versions.values_list("mapping", flat=True).first() or "")


def formulas_with(lab: Lab, column: str, values: pl.Series) -> pl.DataFrame | None:
    """Return `formulas_frame` for the formulas with some formula ids or visual ids, uncached."""
    if (names := formula_files(lab)) is None:
        return None
    is_asked = pl.col(column).is_in(values.unique().implode())
    by_id = is_asked if column == "formula_id" else EVERY
    return _joined(*names, by_id).filter(is_asked).collect()


class IdSource(NamedTuple):
    """A column of a stored file with ids of items, and whether it has all ids of the kind."""

    file: str
    column: str
    is_complete: bool


def id_source(lab: Lab, items: ItemKind) -> IdSource | None:
    """Return where the lab's collection has the ids of a kind of item, or None if it has none."""
    collection = collection_of(lab)
    if collection is None or items is ItemKind.ANSWERS:
        return None
    posts = str(collection.posts_index.name or "")
    formulas = str(collection.formulas_index.name or "")
    if items in (ItemKind.POSTS, ItemKind.DOCUMENTS):
        documents = collection.imports.filter(kind=Import.Kind.DOCUMENTS, kept__gt=0)
        has_all = items is ItemKind.POSTS or documents.exists()
        source = IdSource(posts, "post_id", collection.is_complete and has_all)
    elif items is ItemKind.FORMULA_IDS:
        source = IdSource(formulas, "formula_id", collection.is_complete)
    elif mapping := _newest_mapping(collection):
        source = IdSource(mapping, "visual_id", collection.is_complete)
    else:
        source = IdSource(formulas, GIVEN, is_complete=False)  # some formulas may have no id yet
    return source if source.file else None


def known_ids(source: IdSource, ids: pl.Series) -> pl.Series:
    """Return the wanted ids that a collection has, reading one column of its file."""
    column = pl.col(source.column)
    rows = scan_columns(source.file).filter(column.is_in(ids.unique().implode()))
    return rows.select(column.unique()).collect().to_series()


def scan_columns(file: FieldFile | str) -> pl.LazyFrame:
    """Return a lazy scan of a stored Parquet file, which is read only as far as needed."""
    return pl.scan_parquet(**kept.scanned(str(file)))


def formula_files(lab: Lab) -> tuple[str, str] | None:
    """Return the names of the index and of the newest mapping ("" if none), or None."""
    collection = collection_of(lab)
    if collection is None or not collection.formulas_index:
        return None
    return str(collection.formulas_index.name), str(_newest_mapping(collection) or "")


def _newest_mapping(collection: Collection) -> str | None:
    versions = VisualMap.objects.filter(collection=collection).order_by("-version")
    return versions.values_list("mapping", flat=True).first()


@lru_cache(maxsize=CACHED_FRAMES)
def _posts(name: str) -> pl.DataFrame:
    return scan_columns(name).collect()


@lru_cache(maxsize=CACHED_FRAMES)
def _formulas(name: str, mapping: str) -> pl.DataFrame:
    return _joined(name, mapping).collect()


@lru_cache(maxsize=1)
def _visual_ids(name: str) -> pl.DataFrame:
    return _identified(name).collect()


def _identified(name: str) -> pl.LazyFrame:
    """Return a lazy scan of the formulas with a visual id in a mapping or formula index."""
    rows = scan_columns(name)
    column = GIVEN if GIVEN in rows.collect_schema() else "visual_id"
    return rows.select("formula_id", visual_id=column).drop_nulls()


def _joined(name: str, mapping: str, condition: pl.Expr = EVERY) -> pl.LazyFrame:
    """Return a lazy scan of the wanted formulas, with visual ids from the mapping or the index."""
    columns = ("formula_id", "post_id", "thread_id", "type")
    index = scan_columns(name).filter(condition).select(*columns, visual_id=GIVEN)
    if not mapping:
        return index
    ids = scan_columns(mapping).filter(condition).select("formula_id", newest="visual_id")
    joined = index.join(ids, on="formula_id", how="left", maintain_order="left")
    return joined.with_columns(visual_id=pl.coalesce("newest", "visual_id")).drop("newest")
