"""Read the key `labels` of a task or of qrels in a `lab.toml`, with problems by line."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from arqkit.formats.labs.tables import LabTable
from arqkit.labels import LabelScale
from arqkit.protocols.scales import SCALES, is_relevant_possible, read_scale, scale_faults


class WrittenScale(NamedTuple):
    """A scale, its JSON form as written in the file, and the lowest relevant label of a preset."""

    scale: LabelScale
    written: str | list[dict[str, Any]]
    relevant_from: int | None = None


def take_scale(table: LabTable) -> WrittenScale | None:
    """Read the key `labels`; None if it is missing or invalid. Problems are noted."""
    value = table.value("labels")
    if not isinstance(value, list) or not value:
        scale = table.take("labels", read_scale, None)
        if scale is None or not isinstance(value, str):
            return None
        preset = SCALES.get(value)
        return WrittenScale(scale, value, preset.relevant_from if preset else None)
    if not all(isinstance(row, Mapping) for row in value):
        table.take("labels", read_scale, None)
        return None
    labels = table.tables("labels")
    faults = list(scale_faults(value))
    for fault in faults:
        at, key = (table, "labels") if fault.label is None else (labels[fault.label], fault.key)
        at.mistake(key, fault.found, fault.expected, fault.todo)
    if faults:
        return None
    scale = read_scale(value)
    return WrittenScale(scale, scale.rows())


def check_relevant(table: LabTable, scale: LabelScale, relevant_from: int) -> None:
    """Note a problem if no label of the scale is relevant."""
    if is_relevant_possible(scale, relevant_from):
        return
    highest = max(label.value for label in scale.judgments)
    table.mistake(
        "relevant_from" if "relevant_from" in table else "labels",
        f"no relevant label: the highest is {highest}, "
        f"and labels are relevant from {relevant_from}",
        f"a label of {relevant_from} or higher",
        f"Set relevant_from to {highest} or lower, or add a label.",
    )
