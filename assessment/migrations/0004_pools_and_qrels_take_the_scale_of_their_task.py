"""The scale of a pool or of qrels was that of its task, by the lab's protocol and the overrides.

The scales are written out here as they were then: later presets do not change this migration.
"""

import re
from typing import Any

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

Row = dict[str, Any]

RANGES = {"ntcir-10": (0, 4), "ntcir-11": (0, 1), "ntcir-12": (0, 4)}  # all others: 0 to 3
NTCIR_HIGHEST = 4


def _label(value: int, key: str, letter: str, word: str, colour: str) -> Row:
    return {
        "value": value,
        "key": key,
        "letter": letter,
        "word": word,
        "colour": colour,
        "is_judgment": True,
        "asks_comment": False,
    }


_NO_JUDGMENT = {"is_judgment": False, "asks_comment": True}
_REPORTS = [
    _label(5, "S", "S", "System failure", "purple") | _NO_JUDGMENT,
    _label(6, "D", "D", "Do not know", "amber") | _NO_JUDGMENT,
]
_GRADED = [
    _label(3, "3", "H", "High", "deep-green"),
    _label(2, "2", "M", "Medium", "green"),
    _label(1, "1", "L", "Low", "light-green"),
    _label(0, "0", "N", "Not relevant", "grey"),
]
_BINARY = [
    _label(1, "1", "R", "Relevant", "deep-green"),
    _label(0, "0", "N", "Not relevant", "grey"),
]
_SUMMED = [
    _label(4, "4", "4", "Relevant (4)", "deep-green"),
    _label(3, "3", "3", "Relevant (3)", "green"),
    _label(2, "2", "2", "Partially relevant (2)", "soft-green"),
    _label(1, "1", "1", "Partially relevant (1)", "light-green"),
    _label(0, "0", "0", "Not relevant", "grey"),
]


def scale_of_range(lowest: int, highest: int) -> list[Row]:
    """Return the labels of a range, and those that are not judgments."""
    judgments = _SUMMED if highest == NTCIR_HIGHEST else _BINARY if highest == 1 else _GRADED
    return [row for row in judgments if lowest <= row["value"] <= highest] + _REPORTS


def scale_of_task(protocol: str, overrides: dict[str, Any]) -> list[Row]:
    """Return the scale that a task has by its lab's protocol and its overrides."""
    found = re.fullmatch(r"([0-9]{1,2})\s*[-–]\s*([0-9]{1,2})", str(overrides.get("labels", "")))
    if found:
        return scale_of_range(int(found[1]), int(found[2]))
    return scale_of_range(*RANGES.get(protocol, (0, 3)))


def fill(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Store the scale of its task with each pool and each version of qrels.

    Qrels may have been loaded with labels of their own: those with a 4 were on the scale 0 to 4.
    """
    database = schema_editor.connection.alias
    for name in ("Pool", "QrelSet"):
        model = apps.get_model("assessment", name)
        rows = model.objects.using(database).filter(scale__isnull=True)
        for row in rows.select_related("task__lab").only("pk", "task"):
            scale = scale_of_task(row.task.lab.protocol, row.task.overrides)
            if name == "QrelSet" and row.qrels.filter(relevance=NTCIR_HIGHEST).exists():
                scale = scale_of_range(0, NTCIR_HIGHEST)
            model.objects.using(database).filter(pk=row.pk).update(scale=scale)


class Migration(migrations.Migration):
    dependencies = [("assessment", "0003_pools_and_qrels_may_have_a_scale")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
