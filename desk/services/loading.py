"""A running load, and the reading of its files."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from arqkit.loads import LoadChoice
from arqkit.records import FileRefusedError, Problem
from arqlab.core.models import Lab, Task, User
from collection.services.importing.import_records import Progress
from desk.models import Load
from desk.services.load_files import sent_files

KEEPS_EDITS = {"keep": True, "overwrite": False}
"""Whether values that were edited in the browser are kept; nothing is loaded without a choice."""


class Loading(NamedTuple):
    """A load that is running: its time, its user and the callback for its progress.

    The loader adds `warnings` about what it loaded.
    """

    load: Load
    at: datetime
    by: User
    progress: Progress
    warnings: list[str]

    @property
    def choice(self) -> LoadChoice:
        """Return what the organizer decided about the load."""
        options = self.load.options
        return LoadChoice(
            confirmed=options.get("confirmed") or False,
            takes_older=bool(options.get("takes_older")),
            leaves_out=bool(options.get("leaves_out")),
            keeps_edits=KEEPS_EDITS.get(options.get("edits", "")),
        )

    @property
    def task(self) -> Task:
        """Return the task of the load."""
        if self.load.task is None:
            raise AssertionError("only loads of labs and collections have no task")
        return self.load.task

    @property
    def lab(self) -> Lab:
        """Return the lab of the load."""
        if self.load.lab is None:
            raise AssertionError("only loads of labs have no lab")
        return self.load.lab


def read_sent(
    problems: list[Problem], load: Load, field: str, read: Callable[[bytes, str], Any]
) -> Any:
    """Return the content of the file of a field, or None with its problems or without a file."""
    return read_path(problems, load, field, lambda path: read(path.read_bytes(), path.name))


def read_path(problems: list[Problem], load: Load, field: str, read: Callable[[Path], Any]) -> Any:
    """Return what a reader makes of the first file of a field, or None as `read_sent` does."""
    files = sent_files(load, field)
    try:
        return read(files[0]) if files else None
    except FileRefusedError as refused:
        problems += refused.problems
        return None
