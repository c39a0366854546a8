"""The label scales of the labs as data, and the notation for an organizer's own scale.

A scale is written as the name of a preset (`"ntcir"`), as the range of its judgments (`"0-4"`), or
as a list of labels, each a table with the fields of `ScaleLabel`.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from arqkit.labels import (
    COLOURS,
    LARGEST_VALUE,
    LONGEST_WORD,
    PAGE_KEYS,
    LabelScale,
    ScaleLabel,
    scale_of_rows,
)

# NTCIR's labels, from 0 to 4, are the preset scale with the most grades.
HIGHEST_OF_RANGE = 4

SYSTEM_FAILURE = ScaleLabel(
    5, "S", "S", "System failure", "purple", is_judgment=False, asks_comment=True
)
DO_NOT_KNOW = ScaleLabel(6, "D", "D", "Do not know", "amber", is_judgment=False, asks_comment=True)
_REPORTS = (SYSTEM_FAILURE, DO_NOT_KNOW)

ARQMATH = LabelScale(
    (
        ScaleLabel(3, "3", "H", "High", "deep-green"),
        ScaleLabel(2, "2", "M", "Medium", "green"),
        ScaleLabel(1, "1", "L", "Low", "light-green"),
        ScaleLabel(0, "0", "N", "Not relevant", "grey"),
        *_REPORTS,
    )
)
"""The labels of ARQMath (000 Table 4, 004 Table 2)."""

TREC_BINARY = LabelScale(
    (
        ScaleLabel(1, "1", "R", "Relevant", "deep-green"),
        ScaleLabel(0, "0", "N", "Not relevant", "grey"),
        *_REPORTS,
    )
)
"""Relevant or not, as in TREC's ad hoc tracks."""

NTCIR = LabelScale(
    (
        ScaleLabel(4, "4", "4", "Relevant (4)", "deep-green"),
        ScaleLabel(3, "3", "3", "Relevant (3)", "green"),
        ScaleLabel(2, "2", "2", "Partially relevant (2)", "soft-green"),
        ScaleLabel(1, "1", "1", "Partially relevant (1)", "light-green"),
        ScaleLabel(0, "0", "0", "Not relevant", "grey"),
        *_REPORTS,
    )
)
"""The sum of the labels `NTCIR_GRADES` of two assessors (003 §4)."""

NTCIR_GRADES = LabelScale(
    (
        ScaleLabel(2, "2", "R", "Relevant", "deep-green"),
        ScaleLabel(1, "1", "P", "Partially relevant", "light-green"),
        ScaleLabel(0, "0", "N", "Not relevant", "grey"),
        *_REPORTS,
    )
)
"""The labels of one assessor of NTCIR (003 §4)."""

_OPTIONAL = ("is_judgment", "asks_comment")


class ScalePreset(NamedTuple):
    """A scale, its lowest relevant label, and the scale of two assessors if it is their sum."""

    scale: LabelScale
    relevant_from: int
    grades: LabelScale | None = None


SCALES: Mapping[str, ScalePreset] = MappingProxyType(
    {
        "arqmath": ScalePreset(ARQMATH, 2),
        "trec-binary": ScalePreset(TREC_BINARY, 1),
        "ntcir": ScalePreset(NTCIR, 3, NTCIR_GRADES),
    }
)
"""The scales that a lab may name."""

NAMES_OF_SCALES = f'one of {", ".join(SCALES)}, or a range of 0 to {HIGHEST_OF_RANGE}, like "0-4"'
"""What names labels, in the middle of a sentence."""
_EXPECTED = f"a list of labels, {NAMES_OF_SCALES}"


def grades_of(value: object) -> LabelScale | None:
    """Return the scale of each assessor if labels written like this are sums, or None."""
    return SCALES[value].grades if isinstance(value, str) and value in SCALES else None


class ScaleFault(NamedTuple):
    """A fault in a list of labels, with the label (None for the list) and the key."""

    label: int | None
    key: str | None
    found: str
    expected: str
    todo: str


def read_scale(value: object) -> LabelScale:
    """Read a scale in an organizer's notation. Raises ValueError with the expected notation."""
    if isinstance(value, str):
        return SCALES[value].scale if value in SCALES else _range_scale(value)
    if not isinstance(value, list | tuple):
        raise ValueError(_EXPECTED)
    if fault := next(scale_faults(value), None):
        raise ValueError(f"{fault.expected} instead of {fault.found}")
    return scale_of_rows(value)


def is_relevant_possible(scale: LabelScale, relevant_from: int) -> bool:
    """Return whether any label of the scale reaches `relevant_from`: else no item is relevant."""
    return any(label.value >= relevant_from for label in scale.judgments)


def scale_faults(rows: Sequence[object]) -> Iterator[ScaleFault]:
    """Yield the faults of a list of labels, those of single labels first."""
    tables = [row if isinstance(row, Mapping) else {} for row in rows]
    for number, row in enumerate(rows):
        yield from _label_faults(number, row)
    for key in ("value", "key", "letter", "word"):
        yield from _repeated(tables, key)
    if not any(isinstance(row, Mapping) and row.get("is_judgment", True) for row in rows):
        todo = "Add a label that is a judgment."
        yield ScaleFault(None, None, "only labels that are not judgments", "one at least", todo)


def _range_scale(text: str) -> LabelScale:
    """Return the labels of a range such as `"0-4"`, and those that are not judgments."""
    match = re.fullmatch(r"([0-9]{1,2})\s*[-–]\s*([0-9]{1,2})", text)
    if match is None or not int(match[1]) < int(match[2]) <= HIGHEST_OF_RANGE:
        raise ValueError(_EXPECTED)
    lowest, highest = int(match[1]), int(match[2])
    whole = NTCIR if highest == HIGHEST_OF_RANGE else TREC_BINARY if highest == 1 else ARQMATH
    return whole.without(
        label.value for label in whole.judgments if not lowest <= label.value <= highest
    )


def _label_faults(number: int, row: object) -> Iterator[ScaleFault]:
    if not isinstance(row, Mapping):
        yield ScaleFault(number, None, f"{row!r:.80}", "a table with the label", "Correct it.")
        return
    for key, read in _FIELDS.items():
        if key not in row and key not in _OPTIONAL:
            todo = f"Add {key} to the label."
            yield ScaleFault(number, None, f"a label without {key}", f"the key {key}", todo)
        elif key in row and (expected := read(row[key])):
            yield ScaleFault(
                number, key, f"{key} = {row[key]!r:.80}", expected, "Correct the value."
            )
    for key in row:
        if key not in _FIELDS:
            expected = f"one of {', '.join(_FIELDS)}"
            yield ScaleFault(number, key, f"the key {key}", expected, "Remove it.")


def _repeated(tables: Sequence[Mapping[str, object]], key: str) -> Iterator[ScaleFault]:
    earlier: set[object] = set()
    for number, table in enumerate(tables):
        value = table.get(key)
        if _FIELDS[key](value):
            continue
        folded = value.casefold() if isinstance(value, str) else value
        if folded in earlier:
            todo = f"Give the label another {key}."
            yield ScaleFault(number, key, f"the {key} {value!r} again", f"each {key} once", todo)
        earlier.add(folded)


def _value(value: object) -> str:
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    if is_whole and 0 <= value <= LARGEST_VALUE:  # type: ignore[operator]  # a whole number
        return ""
    return f"a whole number from 0 to {LARGEST_VALUE}"


def _one_character(value: object) -> str:
    if isinstance(value, str) and re.fullmatch("[A-Za-z0-9]", value):
        return ""
    return "one letter from A to Z, or one digit"


def _key(value: object) -> str:
    if isinstance(value, str) and value.upper() in PAGE_KEYS:
        page_keys = ", ".join(sorted(PAGE_KEYS))
        return f"a key that the judging page does not use itself ({page_keys})"
    return _one_character(value)


def _word(value: object) -> str:
    is_text = isinstance(value, str) and value.isprintable() and value.strip()
    if is_text and len(str(value)) <= LONGEST_WORD:
        return ""
    return f"a text of 1 to {LONGEST_WORD} characters"


def _colour(value: object) -> str:
    return "" if value in COLOURS else f"one of {', '.join(COLOURS)}"


def _truth(value: object) -> str:
    return "" if isinstance(value, bool) else "true or false"


# Each returns the expected value, or an empty text if the value is valid.
_FIELDS: Mapping[str, Callable[[object], str]] = {
    "value": _value,
    "key": _key,
    "letter": _one_character,
    "word": _word,
    "colour": _colour,
    "is_judgment": _truth,
    "asks_comment": _truth,
}
