"""The demo lab as a lab folder, with its dates moved to the day it is built."""

import re
import shutil
from datetime import date
from pathlib import Path

from desk.demo.posts import FOLDER

WRITTEN_ON = date(2026, 6, 1)
"""The day on which `lab.toml` was written; its dates are relative to it."""

# Dates of tasks. The window of the collection is not moved, because its posts are not.
_DAY = re.compile(
    r"(?<=^opens = )\d{4}-\d{2}-\d{2}$|(?<=^deadline = )\d{4}-\d{2}-\d{2}$", re.MULTILINE
)
_LAB_FILES = ("*.xml", "formulas.*.tsv", "topic-formulas.*.tsv", "qrels.*.tsv", "topic-info.*.csv")


def lab_text(*, today: date) -> str:
    """Return `lab.toml` with the dates of its tasks moved from `WRITTEN_ON` to `today`."""
    shift = today - WRITTEN_ON
    return _DAY.sub(
        lambda day: (date.fromisoformat(day[0]) + shift).isoformat(),
        (FOLDER / "lab.toml").read_text(),
    )


def write_lab(folder: Path, *, today: date) -> Path:
    """Write the demo lab into `folder`, creating it if needed, and return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for pattern in _LAB_FILES:
        for file in FOLDER.glob(pattern):
            shutil.copyfile(file, folder / file.name)
    (folder / "lab.toml").write_text(lab_text(today=today))
    return folder
