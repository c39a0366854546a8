"""What stands around posts (stand-in until the whole module joins)."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from arqlab.ir.dumprecords import Window
from collection.models import Collection, Import
from collection.services.importing.posts import import_posts
from collection.services.importing.records import Progress


def import_file(
    *, collection: Collection, kind: str, path: Path, window: Window, at: datetime, progress: Progress | None = None
) -> Import:
    """Take a file of the dump in."""
    if kind != "posts":
        raise AssertionError("The stand-in knows posts alone.")
    return import_posts(collection=collection, path=path, window=window, at=at, progress=progress)
