"""Slips of the programs that write runs: a run in the task's own format, but for one thing.

A trailing tab, a missing run tag, a tag of several words, or row numbers before each line change
the number of columns, so that the file looks like a run of another task. The task's own formats
are therefore tried first, with and without these slips.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

import polars as pl

from arqkit.formats.nested import json_values
from arqkit.formats.runs.lines import CSV, EXCERPT
from arqkit.formats.runs.report import Finding, Place, listed
from arqkit.topics import visible

SAMPLE = 200
"""Lines that show which slip a file has."""
MOST = 0.8
"""The part of the sample that must be rows of a format: the rest may have faults of its own."""
WHOLE = re.compile(r"[0-9]+")
SCORE = re.compile(r"[+-]?[0-9.,]*[0-9][0-9.,]*([eE][+-]?[0-9]+)?\s?%?")
QUOTED = re.compile(r'"(.*)"')
ROW_NUMBER = re.compile(r'"?([0-9]+)"?')
FILLED_TAG = "run"
KEYS = 8
"""How many keys of a JSON object a report names."""

Row = list[str]
Mend = Callable[[Row, int], Row | None]
"""A function that takes the cells of a line and the number of columns it should have, and returns
the cells without the slip, or None if the line does not have it."""

OF_TAGS = {"missing-tag", "tag-of-words"}
IMPOSSIBLE = ({"tag-of-words", "missing-tag"}, {"tag-of-words", "trailing-separator"})


class Columns(NamedTuple):
    """What a format says of its columns: how many there are, and where some of them are."""

    width: int
    rank: int
    score: int | None
    constant: int | None = None
    """The column that has the same word in most rows: `Q0` of TREC."""
    has_tag: bool = True


class Slip(NamedTuple):
    """The slips of a file, and its lines without them, in their places."""

    findings: list[Finding]
    columns: Columns
    lines: pl.Series
    header: int | None
    """The number of the line that names the columns, from 1."""


def without_row_number(cells: Row, width: int) -> Row | None:
    """Drop the index that pandas and R write before each line."""
    del width
    return cells[1:] if cells and ROW_NUMBER.fullmatch(cells[0]) else None


def without_trailing_cell(cells: Row, width: int) -> Row | None:
    """Drop the empty cell after a separator at the end of the line."""
    return cells[:width] if len(cells) == width + 1 and cells[-1] == "" else None


def with_one_word_as_tag(cells: Row, width: int) -> Row | None:
    """Join the words of a run tag in a file whose columns are separated by spaces."""
    tag = cells[width - 1 :]
    return [*cells[: width - 1], "-".join(tag)] if len(tag) > 1 and all(tag) else None


def with_tag(cells: Row, width: int) -> Row | None:
    """Add a run tag to a line that ends with the score."""
    return [*cells, FILLED_TAG] if len(cells) == width - 1 else None


MENDS: dict[str, Mend] = {
    "row-numbers": without_row_number,
    "trailing-separator": without_trailing_cell,
    "tag-of-words": with_one_word_as_tag,
    "missing-tag": with_tag,
}
"""The slips by their kinds of problems, in the order in which a line is mended."""


def read_slip(lines: pl.Series, formats: Sequence[Columns]) -> Slip | Columns | None:
    """Return the slips of a file, or the columns of the format that it has without any.

    `lines` is every line of the file, `formats` has those that the task takes. Return None if the
    file has none of these formats, with or without slips: then it has faults of another kind.
    """
    sample = [line for line in lines.head(2 * SAMPLE) if line.strip()][:SAMPLE]
    if not sample:
        return None
    separator = _separator(sample)
    rows = [split_cells(line, separator) for line in sample]
    for kinds, columns in _candidates(formats, separator):
        mended = [mend(row, kinds, columns)[0] for row in rows]
        has_header = len(rows) > 1 and not _fits(mended[0], columns)
        if _is_ranked(mended[has_header:], columns) and (
            "row-numbers" not in kinds or _counts(rows[has_header:])
        ):
            break
    else:
        return None
    if not kinds:
        # A line may have a trailing separator, which needs no guess, where the sample has none.
        if separator == " " or not lines.str.ends_with(separator).any():
            return columns
        kinds = ("trailing-separator",)
    return _mended(lines, separator, kinds, columns, has_header=has_header) or columns


def _candidates(
    formats: Sequence[Columns], separator: str
) -> Iterator[tuple[tuple[str, ...], Columns]]:
    """Yield each format with no slip, then with one, two and more."""
    names = [name for name in MENDS if name != "tag-of-words" or separator == " "]
    for size in range(len(names) + 1):
        for kinds in combinations(names, size):
            if not any(pair <= set(kinds) for pair in IMPOSSIBLE):
                of_tags = OF_TAGS.intersection(kinds)
                yield from (
                    (kinds, columns) for columns in formats if columns.has_tag or not of_tags
                )


def mend(row: Row, kinds: Sequence[str], columns: Columns) -> tuple[Row, list[str]]:
    """Return the cells of a line without its slips, and the kinds of these."""
    slips = []
    for kind in kinds:
        mended = MENDS[kind](row, columns.width)
        if mended is not None:
            row = mended
            slips.append(kind)
    if "row-numbers" in slips:  # R also quotes texts
        row = [match[1] if (match := QUOTED.fullmatch(cell)) else cell for cell in row]
    return row, slips


def split_cells(line: str, separator: str) -> Row:
    """Return the cells of a line without spaces around them; blanks may repeat as a separator."""
    if separator == " ":
        return line.split()
    return [cell.strip(" ") for cell in line.rstrip("\r").split(separator)]


def _separator(sample: list[str]) -> str:
    for mark in ("\t", *CSV):
        if sum(line.count(mark) >= 2 for line in sample) * 2 > len(sample):
            return mark
    return " "


def _fits(row: Row, columns: Columns) -> bool:
    """Return whether a line has a rank and a score where the format has them."""
    return (
        len(row) == columns.width
        and bool(WHOLE.fullmatch(row[columns.rank]))
        and (columns.score is None or bool(SCORE.fullmatch(row[columns.score])))
    )


def _is_ranked(rows: list[Row], columns: Columns) -> bool:
    """Return whether most rows have these columns: ranks that rise, scores, and one `Q0`."""
    ranked = [row for row in rows if _fits(row, columns)]
    if not ranked or len(ranked) < MOST * len(rows):
        return False
    if columns.constant is not None:
        words = Counter(row[columns.constant] for row in ranked)
        if words.most_common(1)[0][1] < MOST * len(ranked):
            return False
    ranks = [int(row[columns.rank]) for row in ranked]
    if len(ranked) == 1:
        return ranks[0] <= 1
    pairs = list(pairwise((row[0], rank) for row, rank in zip(ranked, ranks, strict=True)))
    within = [(rank, later) for (topic, rank), (other, later) in pairs if topic == other]
    # Without two rows of one topic, nothing shows that this is the column of the ranks.
    return bool(within) and sum(later > rank for rank, later in within) >= MOST * len(within)


def _counts(rows: list[Row]) -> bool:
    """Return whether the first cells count the rows, from any number on."""
    matches = [ROW_NUMBER.fullmatch(row[0]) for row in rows if row]
    numbers = [int(match[1]) for match in matches if match]
    follows = sum(later == number + 1 for number, later in pairwise(numbers))
    return len(numbers) > 1 and follows >= MOST * (len(rows) - 1)


def _mended(
    lines: pl.Series, separator: str, kinds: Sequence[str], columns: Columns, *, has_header: bool
) -> Slip | None:
    """Return the file without the slips, or None if no line has any of them."""
    texts: list[str] = []
    places: dict[str, list[Place]] = {kind: [] for kind in kinds}
    header = None
    for number, line in enumerate(lines, start=1):
        cells = split_cells(line, separator)
        row, slips = mend(cells, kinds, columns)
        if has_header and header is None and line.strip():
            header = number
            is_index_named = "row-numbers" in kinds and len(cells) > columns.width
            row, slips = (cells[1:], []) if is_index_named else (cells, [])
        elif not slips or len(row) != columns.width:
            row = cells  # it has no slip, or another fault, which is reported as it is
            slips = []
        for kind in slips:
            expected = line[:EXCERPT] if kind == "trailing-separator" else separator.join(row)
            places[kind].append((number, row[0], line[:EXCERPT], expected[:EXCERPT]))
        texts.append(line if row == cells else separator.join(row))
    findings = [Finding(kind, listed(rows)) for kind, rows in places.items() if rows]
    return Slip(findings, columns, pl.Series("text", texts), header) if findings else None


def json_findings(data: bytes) -> Iterator[Finding]:
    """Yield that a file is JSON, with the keys of its first object."""
    start = data[:1].decode(errors="replace") if data[:1] in {b"{", b"["} else ""
    if not start:
        return
    first = data.split(b"\n", 1)[0]
    try:
        value = json_values(first)
        form = "JSON lines" if b"\n" in data.strip() else "JSON"
    except ValueError:
        try:
            value = json_values(data)
        except ValueError:
            return
        form = "JSON"
    entry = value[0] if isinstance(value, list) and value else value
    names = list(map(str, entry))[:KEYS] if isinstance(entry, dict) else []
    keys = f" with the keys {', '.join(f'`{visible(name)}`' for name in names)}" if names else ""
    place: Place = (1, None, first[:EXCERPT].decode(errors="replace"), "a row")
    yield Finding("json", listed([place]), {"form": form, "keys": keys})
