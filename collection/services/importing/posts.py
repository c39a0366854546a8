"""Posts (stand-in until the whole module joins)."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from arqlab.ir.dumprecords import Window
from collection.models import Collection, Import
from collection.services.importing.records import Progress


def import_posts(
    *, collection: Collection, path: Path, window: Window, at: datetime, progress: Progress | None = None
) -> Import:
    """Take posts in."""
    raise AssertionError("The stand-in takes no posts.")
