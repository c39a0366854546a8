"""A block of a TSV file as columns: the many rows of one line in one go, the few others row by row.

A cell may be quoted, with quotes in it doubled; a quoted cell may hold tabs and line ends. Quotes
that do not begin a cell are text. Lines are found with numpy and parted by polars; a row that is
more than a line, or has other tabs than most, is read by a plain loop, which also says what is
wrong with it. An unclosed quote costs its own row: the next line that looks like a row is one.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from arqlab.ir.records import Problem

LINE_END, TAB, QUOTE = 10, 9, 34
LONGEST_ROW = 4 * 1024 * 1024  # bytes that a quoted cell over several lines may take
REMEDY = "Correct the row, or write the file anew."
_CELL = re.compile(r'"((?:[^"]|"")*)"(?=\t|$)|([^\t"][^\t]*|)(?=\t|$)')
_A_ROW = re.compile(rb'"?(?:q_)?\d+"?\t"?(?:[A-Z]\.)?\d*"?\t')

Lines = npt.NDArray[np.int64]


class TsvBlock(NamedTuple):
    """What a block gave: its rows, `line` and a column for each heading, in order; what was wrong;
    bytes not used yet.
    """

    frame: pl.DataFrame
    problems: list[Problem]
    rest: bytes
    next_line: int


@dataclass
class _Found:
    """Rows and problems that the plain loop found."""

    source: str
    headings: list[str]
    lines: list[int] = field(default_factory=list)
    rows: list[tuple[str | None, ...]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def read(self, line: int, raw: bytes) -> None:
        """Read one row, or say what is wrong with it."""
        cells = self._cells(line, raw)
        if cells is None:
            return
        if len(cells) != len(self.headings):
            found = f"{len(cells)} columns"
            self.complain(line, found, f"{len(self.headings)} columns as in the headings")
        else:
            self.lines.append(line)
            self.rows.append(tuple(cell or None for cell in cells))

    def complain(self, line: int, found: str, expected: str) -> None:
        """Note what is wrong."""
        self.problems.append(Problem(self.source, line, found, expected, REMEDY))

    def _cells(self, line: int, raw: bytes) -> list[str] | None:
        try:
            text = raw.decode()
        except UnicodeDecodeError as error:
            self.complain(
                line, f"the byte 0x{raw[error.start]:02X}, which is not UTF-8", "text in UTF-8"
            )
            return None
        cells = cells_of(text)
        if cells is None:
            self.complain(
                line,
                "a quoted cell with a single quote in it",
                "quotes doubled inside a quoted cell",
            )
        return cells


def cells_of(text: str) -> list[str] | None:
    """Part one row into its cells, without quotes around them; None where a quoted cell goes on
    after its end.
    """
    cells: list[str] = []
    place, text = 0, text.removesuffix("\r")
    while place <= len(text):
        found = _CELL.match(text, place)
        if found is None:
            return None
        cells.append(found[2] if found[1] is None else found[1].replace('""', '"'))
        place = found.end() + 1
    return cells


def read_tsv_block(
    data: bytes, *, source: str, headings: list[str], line: int, is_last: bool
) -> TsvBlock:
    """Read the rows of `data`, whose first line is `line` of the file; only a whole line may end
    it.

    A row that is not ended is left in `rest`, unless the block is the last one.
    """
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == LINE_END)
    starts = np.concatenate([np.zeros(min(1, len(ends)), np.int64), ends[:-1] + 1])
    found = _Found(source, headings)
    rows = _rows_of(data, starts, ends, is_last=is_last)
    for first, last in rows.joined:
        found.read(line + first, data[starts[first] : ends[last]])
    for first in rows.unclosed:
        found.complain(line + first, "a quoted cell that does not end", 'a cell that ends with "')
    frame = _simple_rows(data, starts, ends, rows.is_simple, found, line)
    if found.rows:
        others = pl.DataFrame(found.rows, schema=dict.fromkeys(headings, pl.String), orient="row")
        others = others.with_columns(line=pl.Series(found.lines, dtype=pl.Int64))
        frame = pl.concat([frame, others.select(frame.columns)]).sort("line")
    used = len(data) if rows.ended == len(ends) else int(starts[rows.ended])
    return TsvBlock(
        frame, sorted(found.problems, key=lambda one: one.line or 0), data[used:], line + rows.ended
    )


class _Rows(NamedTuple):
    is_simple: npt.NDArray[np.bool_]  # of each line, whether it is a row of its own
    joined: list[tuple[int, int]]  # first and last line of rows that are more than a line
    unclosed: list[int]
    ended: int  # lines that belong to rows that ended


def _rows_of(data: bytes, starts: Lines, ends: Lines, *, is_last: bool) -> _Rows:
    """Find which lines are rows, by the quotes in them: a line that opens a quoted cell has an odd
    number of them.
    """
    rows = _Rows(np.ones(len(ends), np.bool_), [], [], len(ends))
    if QUOTE not in data:
        return rows
    for first, last, is_closed in _quoted_rows(data, starts, ends):
        rows.is_simple[first : last + 1] = False
        if is_closed:
            rows.joined.append((first, last))
        elif last + 1 < len(ends) or is_last or len(data) - starts[first] > LONGEST_ROW:
            rows.unclosed.append(first)
        else:
            return rows._replace(ended=first)
    return rows


def _quoted_rows(data: bytes, starts: Lines, ends: Lines) -> Iterator[tuple[int, int, bool]]:
    """Return first and last line of each row whose quoted cell goes beyond its line, and whether the
    cell is closed.
    """
    buffer = np.frombuffer(data, np.uint8)
    quotes = np.flatnonzero(buffer == QUOTE)
    before = buffer[
        quotes - 1
    ]  # of a quote at the very beginning the last byte, which is a line's end
    openings = quotes[(before == TAB) | (before == LINE_END)]
    odd = np.flatnonzero(_counts(quotes, ends) % 2)
    opens = _counts(openings, ends)[odd] > 0
    at = 0
    while at < len(odd):
        first = int(odd[at])
        at += 1
        if not opens[at - 1]:
            continue
        last = int(odd[at]) if at < len(odd) else len(ends) - 1
        row = next(
            (n for n in range(first + 1, last + 1) if _A_ROW.match(data, starts[n], ends[n])), None
        )
        is_closed = row is None and at < len(odd)
        yield first, last if row is None else row - 1, is_closed
        at += is_closed


def _counts(places: Lines, ends: Lines) -> Lines:
    """Count on each line the places that stand on it."""
    return np.diff(np.searchsorted(places, ends), prepend=0)


def _simple_rows(
    data: bytes,
    starts: Lines,
    ends: Lines,
    is_simple: npt.NDArray[np.bool_],
    found: _Found,
    line: int,
) -> pl.DataFrame:
    """Read the rows of one line; those with other tabs, quotes or bytes than expected are left to
    the plain loop.
    """
    tabs = _counts(np.flatnonzero(np.frombuffer(data, np.uint8) == TAB), ends)
    fast = is_simple & (tabs == len(found.headings) - 1)
    try:
        frame = _parted(data, starts, ends, fast, found.headings)
    except pl.exceptions.ComputeError:
        fast &= _is_utf8(data, starts, ends)
        frame = _parted(data, starts, ends, fast, found.headings)
    frame = frame.with_columns(line=pl.Series(np.flatnonzero(fast) + line, dtype=pl.Int64))
    frame, left = _without_quotes(frame)
    left += (np.flatnonzero(is_simple & ~fast) + line).tolist()
    for number in sorted(left):
        raw = data[starts[number - line] : ends[number - line]]
        if raw.strip():
            found.read(number, raw)
    return frame


def _parted(
    data: bytes, starts: Lines, ends: Lines, fast: npt.NDArray[np.bool_], headings: list[str]
) -> pl.DataFrame:
    schema = dict.fromkeys(headings, pl.String)
    if not fast.any():
        return pl.DataFrame(schema=schema)
    if not fast.all():
        data = np.frombuffer(data, np.uint8)[: ends[-1] + 1][
            np.repeat(fast, ends + 1 - starts)
        ].tobytes()
    frame = pl.read_csv(data, separator="\t", quote_char=None, has_header=False, schema=schema)
    if b"\r" in data:
        frame = frame.with_columns(pl.col(headings[-1]).str.strip_suffix("\r").replace("", None))
    return frame


def _is_utf8(data: bytes, starts: Lines, ends: Lines) -> npt.NDArray[np.bool_]:
    good = np.ones(len(ends), np.bool_)
    for number, (start, end) in enumerate(zip(starts, ends, strict=True)):
        try:
            data[start:end].decode()
        except UnicodeDecodeError:
            good[number] = False
    return good


def _without_quotes(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[int]]:
    """Take the quotes off quoted cells; give the lines of rows where they do not stand as they
    should.
    """
    left: list[int] = []
    for name in frame.columns[:-1]:
        is_quoted = frame[name].str.starts_with('"').fill_null(value=False)
        if is_quoted.any():
            inner = frame[name].str.strip_prefix('"').str.strip_suffix('"')
            text = inner.str.replace_all('""', '"', literal=True)
            # Each quote that is left stood there twice, or else one stood there alone.
            doubled = inner.str.len_bytes() - text.str.len_bytes()
            is_right = frame[name].str.ends_with('"') & (frame[name].str.len_bytes() > 1)
            is_right &= doubled == text.str.count_matches('"', literal=True)
            cells = (
                pl.when(is_quoted).then(text.replace("", None)).otherwise(pl.col(name)).alias(name)
            )
            frame = frame.with_columns(cells)
            if not (is_right | ~is_quoted).all():
                left += frame["line"].filter(is_quoted & ~is_right).to_list()
                frame = frame.filter(is_right | ~is_quoted)
    return frame, left
