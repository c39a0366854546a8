"""The demo lab as a folder that `load_lab` reads, with its days moved to where the demo is built."""

import re
import shutil
from datetime import date
from pathlib import Path

from arqlab.pages.demo.posts import FOLDER

WRITTEN_ON = date(2026, 6, 1)
"""The day that `lab.toml` takes for today."""

# Of the tasks; the window of the collection stays with its posts.
_DAY = re.compile(
    r"(?<=^opens = )\d{4}-\d{2}-\d{2}$|(?<=^deadline = )\d{4}-\d{2}-\d{2}$", re.MULTILINE
)
_LAB_FILES = ("*.xml", "formulas.*.tsv", "topic-formulas.*.tsv", "qrels.*.tsv", "topic-info.*.csv")


def lab_text(*, today: date) -> str:
    """Return the text of `lab.toml` with every day of the tasks moved by as much as `today` is away
    from `WRITTEN_ON`.
    """
    shift = today - WRITTEN_ON
    return _DAY.sub(
        lambda day: (date.fromisoformat(day[0]) + shift).isoformat(),
        (FOLDER / "lab.toml").read_text(),
    )


def write_lab(folder: Path, *, today: date) -> Path:
    """Write the demo lab into `folder`, which is made if need be, and give the folder for
    `load_lab`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for pattern in _LAB_FILES:
        for file in FOLDER.glob(pattern):
            shutil.copyfile(file, folder / file.name)
    (folder / "lab.toml").write_text(lab_text(today=today))
    return folder
