"""Read the key `answer_ids` of a task in a `lab.toml`."""

from collections.abc import Collection

import polars as pl

from arqkit.formats.labs.tables import LabTable
from arqkit.formats.runs.answer_ids import read_answer_ids
from arqkit.records import TaskKind


def take_answer_ids(
    table: LabTable, kind: TaskKind | None, topics: Collection[str] | None
) -> pl.DataFrame | None:
    """Return the rows of the file (run, topic, answer), or None without a valid file."""
    file = table.file("answer_ids", required=False)
    if file is None:
        return None
    if kind not in (None, TaskKind.GENERATED_ANSWERS):
        expected = f"a task of kind {TaskKind.GENERATED_ANSWERS}"
        table.mistake("answer_ids", f"answer_ids in a task of kind {kind}", expected, "Remove it.")
        return None
    return table.content(file, lambda data, path: read_answer_ids(data, path=path, topics=topics))
