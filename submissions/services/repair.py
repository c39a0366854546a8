"""The changes of the safe repairs, as a short diff for the run's page."""

from __future__ import annotations

import re
from typing import Any

from arqkit.formats.runs.diff import repair_diff
from arqkit.formats.runs.repair import repaired_run
from arqkit.formats.runs.report import RunRules

SHOWN_LINES = 60
SHOWN_CHARACTERS = 160
KINDS = {"+": "added", "-": "removed", "@": "gap", "…": "gap"}


def repair_facts(data: bytes, rules: RunRules) -> list[dict[str, Any]]:
    """Return the first lines of the diff to the repaired run file, or none without a repair.

    Each line has its kind (added, removed, gap or empty), its number in the original file (None for
    an added line), and its text, shortened if it is too long to read.
    """
    repaired = repaired_run(data, rules)
    if repaired is None:
        return []
    shown, number = [], 0
    for line in repair_diff(data, repaired, most=SHOWN_LINES).splitlines():
        if line.startswith(("--- ", "+++ ")):
            continue
        kind = KINDS.get(line[:1], "")
        if start := re.match(r"@@ -(\d+)", line):
            number = int(start[1])
        is_in_file = kind in {"", "removed"}
        shown.append({"kind": kind, "line": number if is_in_file else None, "text": _short(line)})
        number += is_in_file
    return shown


def _short(line: str) -> str:
    line = line.replace("␍", r"\r")  # few fonts have U+240D
    return line if len(line) <= SHOWN_CHARACTERS else line[:SHOWN_CHARACTERS] + "…"
