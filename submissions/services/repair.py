"""What the safe repairs would change, as a short diff for the run's page."""

from __future__ import annotations

import difflib
from collections import Counter
from typing import Any

from arqlab.ir.runfile import RunRules, repaired_run

SHOWN_LINES = 40
COMPARED_LINES = 60
SHOWN_CHARACTERS = 160


def repair_facts(data: bytes, rules: RunRules) -> dict[str, Any] | None:
    """Say what the repaired file changes: how many lines are taken out and put in, and the first of them.

    Each of `lines` has the mark "-", "+" or " ", and the text with its invisible characters made visible. None when
    nothing can be repaired.
    """
    repaired = repaired_run(data, rules)
    if repaired is None:
        return None
    before, after = (text.decode("utf-8", errors="replace").split("\n") for text in (data, repaired))
    removed, added = Counter(before) - Counter(after), Counter(after) - Counter(before)
    return {"removed": removed.total(), "added": added.total(), "lines": _first_changes(before, after)}


def _first_changes(before: list[str], after: list[str]) -> list[dict[str, Any]]:
    # Only the neighbourhood of the first change is compared: a diff of 100,000 lines takes longer than anybody waits.
    same = next((at for at, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]), len(after))
    start = max(0, same - 2)
    lines, number = [], start
    for line in difflib.ndiff(before[start : start + COMPARED_LINES], after[start : start + COMPARED_LINES]):
        mark, text = line[0], line[2:]
        if mark == "?":
            continue
        number += mark != "+"
        lines.append({"mark": mark, "line": number if mark != "+" else None, "text": _visible(text)})
    return lines[:SHOWN_LINES]


def _visible(text: str) -> str:
    shown = text.replace("\ufeff", "⟨BOM⟩").replace("\r", "␍").replace("\0", "␀")
    return shown if len(shown) <= SHOWN_CHARACTERS else shown[:SHOWN_CHARACTERS] + "…"
