"""Read a block of a TSV file as columns: rows of one line at once, other rows one by one.

A cell may be quoted, with the quotes in it doubled; a quoted cell may contain tabs and line ends.
Quotes that do not begin a cell are text. numpy finds the lines and polars splits them. A plain loop
reads a row that spans lines or has another number of tabs, and reports its problems. An unclosed
quote costs only its own row: the next line that looks like a row is read as one.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from arqkit.records import Problem

LINE_END, TAB, QUOTE = 10, 9, 34
LONGEST_ROW = 4 * 1024 * 1024  # bytes that a quoted cell over several lines may take
REMEDY = "Correct the row, or write the file again."
_CELL = re.compile(r'"((?:[^"]|"")*)"(?=\t|$)|([^\t"][^\t]*|)(?=\t|$)')
_A_ROW = re.compile(rb'"?(?:q_)?\d+"?\t"?(?:[A-Z]\.)?\d*"?\t')

Lines = npt.NDArray[np.int64]


class TsvBlock(NamedTuple):
    """The rows of a block (`line` and a column per heading), their problems, and unused bytes."""

    frame: pl.DataFrame
    problems: list[Problem]
    rest: bytes
    next_line: int


@dataclass
class _OddRows:
    """The rows that only the plain loop can read, and their problems."""

    source: str
    headings: list[str]
    lines: list[int] = field(default_factory=list)
    rows: list[tuple[str | None, ...]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def read(self, line: int, raw: bytes) -> None:
        """Read a row, or note its problem."""
        cells = self._cells(line, raw)
        if cells is None:
            return
        if len(cells) != len(self.headings):
            actual = f"{len(cells)} columns"
            self.complain(line, actual, f"{len(self.headings)} columns, as in the headings")
        else:
            self.lines.append(line)
            self.rows.append(tuple(cell or None for cell in cells))

    def complain(self, line: int, actual: str, expected: str) -> None:
        """Note a problem."""
        self.problems.append(Problem(self.source, line, actual, expected, REMEDY))

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
                "doubled quotes inside a quoted cell",
            )
        return cells


def cells_of(text: str) -> list[str] | None:
    """Return the cells of a row without their quotes; None if text follows a quoted cell."""
    cells: list[str] = []
    place, text = 0, text.removesuffix("\r")
    while place <= len(text):
        match = _CELL.match(text, place)
        if match is None:
            return None
        cells.append(match[2] if match[1] is None else match[1].replace('""', '"'))
        place = match.end() + 1
    return cells


def read_tsv_block(
    data: bytes, *, source: str, headings: list[str], line: int, is_last: bool
) -> TsvBlock:
    """Read the rows of `data`: complete lines, of which the first is line `line` of the file.

    An unfinished row is left in `rest`, unless the block is the last one.
    """
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == LINE_END)
    starts = np.concatenate([np.zeros(min(1, len(ends)), np.int64), ends[:-1] + 1])
    odd_rows = _OddRows(source, headings)
    rows = _rows_of(data, starts, ends, is_last=is_last)
    for first, last in rows.joined:
        odd_rows.read(line + first, data[starts[first] : ends[last]])
    for first in rows.unclosed:
        odd_rows.complain(line + first, "an unclosed quoted cell", 'a cell that ends with "')
    frame = _simple_rows(data, starts, ends, rows.is_simple, odd_rows, line)
    if odd_rows.rows:
        others = pl.DataFrame(
            odd_rows.rows, schema=dict.fromkeys(headings, pl.String), orient="row"
        )
        others = others.with_columns(line=pl.Series(odd_rows.lines, dtype=pl.Int64))
        frame = pl.concat([frame, others.select(frame.columns)]).sort("line")
    used = len(data) if rows.ended == len(ends) else int(starts[rows.ended])
    return TsvBlock(
        frame,
        sorted(odd_rows.problems, key=lambda problem: problem.line or 0),
        data[used:],
        line + rows.ended,
    )


class _Rows(NamedTuple):
    is_simple: npt.NDArray[np.bool_]  # whether a line is a row by itself
    joined: list[tuple[int, int]]  # first and last line of rows that span several
    unclosed: list[int]
    ended: int  # number of lines of finished rows


def _rows_of(data: bytes, starts: Lines, ends: Lines, *, is_last: bool) -> _Rows:
    """Find the rows by their quotes: a line that opens a quoted cell has an odd number of them."""
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
    """Yield first and last line of each row with a multi-line cell, and whether it is closed."""
    buffer = np.frombuffer(data, np.uint8)
    quotes = np.flatnonzero(buffer == QUOTE)
    # The byte before a quote at the very beginning is the last one, which is a line end.
    before = buffer[quotes - 1]
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
    """Return the number of places on each line."""
    return np.diff(np.searchsorted(places, ends), prepend=0)


def _simple_rows(
    data: bytes,
    starts: Lines,
    ends: Lines,
    is_simple: npt.NDArray[np.bool_],
    odd_rows: _OddRows,
    line: int,
) -> pl.DataFrame:
    """Read the rows of one line; the plain loop reads those with odd tabs, quotes or bytes."""
    tabs = _counts(np.flatnonzero(np.frombuffer(data, np.uint8) == TAB), ends)
    fast = is_simple & (tabs == len(odd_rows.headings) - 1)
    try:
        frame = _split(data, starts, ends, fast, odd_rows.headings)
    except pl.exceptions.ComputeError:
        fast &= _is_utf8(data, starts, ends)
        frame = _split(data, starts, ends, fast, odd_rows.headings)
    frame = frame.with_columns(line=pl.Series(np.flatnonzero(fast) + line, dtype=pl.Int64))
    frame, left = _without_quotes(frame)
    left += (np.flatnonzero(is_simple & ~fast) + line).tolist()
    for number in sorted(left):
        raw = data[starts[number - line] : ends[number - line]]
        if raw.strip():
            odd_rows.read(number, raw)
    return frame


def _split(
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
    """Remove the quotes around cells, and return the lines of rows with misplaced quotes."""
    left: list[int] = []
    for name in frame.columns[:-1]:
        is_quoted = frame[name].str.starts_with('"').fill_null(value=False)
        if is_quoted.any():
            inner = frame[name].str.strip_prefix('"').str.strip_suffix('"')
            text = inner.str.replace_all('""', '"', literal=True)
            # Each remaining quote must have been doubled.
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
