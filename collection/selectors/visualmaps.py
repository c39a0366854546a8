"""What is read of the versions of a collection's visual ids."""

from __future__ import annotations

import polars as pl

from collection.models import Collection, VisualMap
from collection.selectors.collections import scan_columns

COLUMNS = ("mapping", "forms", "changes", "opinion")


def newest_map(collection: Collection) -> VisualMap | None:
    """Give the newest version of the visual ids, the one that is used; None before the first."""
    return VisualMap.objects.filter(collection=collection).order_by("-version").first()


def map_frame(version: VisualMap, field: str) -> pl.DataFrame:
    """Give a frame of a version: `mapping`, `forms`, `changes` or `opinion` (`arqlab.ir.identity` names the columns)."""
    return scan_columns(getattr(version, field)).collect()
