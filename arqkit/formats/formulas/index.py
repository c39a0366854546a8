"""Read the formula indexes of the three editions, and the topic formulas in that format (§2).

A file of 28 million rows, or a folder of 101 files, is read in parts, in constant memory.
Unreadable rows are reported by file and line, and the others are kept. Columns are found by their
headings: the first edition has no visual ids, the second has one or two of them, and the third also
has an issue and the id of the comment. In an index of topic formulas, `post_id` is the topic's id.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from arqkit.formats.archives.compressed import PIECE, DamagedFileError, read_pieces
from arqkit.formats.formulas.seen_ids import SeenIds
from arqkit.records import Problem
from arqkit.topics import natural_key

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


COLUMNS = (
    "formula_id",
    "post_id",
    "thread_id",
    "type",
    "comment_id",
    "old_visual_id",
    "visual_id",
    "issue",
    "formula",
)
ROWS_A_PART = 100_000
SCHEMA = dict.fromkeys(COLUMNS, pl.String)
SUFFIXES = (".tsv", ".tsv.gz", ".tsv.bz2")
OTHER_HEADINGS = {
    "id": "formula_id",
    "topic_id": "post_id",
    "slt": "formula",
    "opt": "formula",
    "latex": "formula",
    "mathml": "formula",
}
NEEDED = ("formula_id", "post_id", "thread_id", "type", "formula")
COMPLETE_FILE = "Import the complete file."
NAME_COLUMNS = (
    "Name the columns in the first line. The file must be tab-separated UTF-8 text, plain or "
    "compressed as .gz or .bz2."
)
_ID = r"^(?:q_)?[0-9]{1,18}$"
_POST_ID = r"^(?:[0-9]{1,18}|[A-Z]\.[0-9]{1,9})$"
_THREAD_ID = r"^[0-9]{1,18}$"


class IndexPart(NamedTuple):
    """Rows of an index in order, with COLUMNS (null for an empty cell), and their problems."""

    frame: pl.DataFrame
    problems: list[Problem]


def read_index(path: Path) -> Iterator[IndexPart]:
    """Read an index in parts of at most 100,000 rows, from a TSV file or a folder of them.

    The files may be compressed (gzip, bzip2); those of a folder are read in the order of their
    numbers. If an id occurs twice, in one file or in two, the first row is kept. A file with other
    headings is skipped. Problems name a file relative to the parent of `path`.
    """
    seen = SeenIds()
    if not path.is_dir():
        yield from _parts(path, path.name, seen)
        return
    files = index_files(path)
    if not files:
        actual, expected = "a folder without an index", f"files ending in {', '.join(SUFFIXES)}"
        yield IndexPart(
            pl.DataFrame(schema=SCHEMA),
            [Problem(path.name, None, actual, expected, "Name another folder.")],
        )
    for file in files:
        yield from _parts(file, f"{path.name}/{file.name}", seen)


def index_files(folder: Path) -> list[Path]:
    """Return the TSV files of a folder, with 2.tsv before 10.tsv."""
    files = (
        file for file in folder.iterdir() if file.name.lower().endswith(SUFFIXES) and file.is_file()
    )
    visible = (file for file in files if not file.name.startswith("."))
    return sorted(visible, key=lambda file: natural_key(file.name))


def _parts(path: Path, source: str, seen: SeenIds) -> Iterator[IndexPart]:
    file = _IndexFile(source, seen)
    try:
        for piece in read_pieces(path):
            yield from file.take(piece)
        yield from file.end()
    except DamagedFileError as damage:
        yield from file.end(damage=str(damage))
    except OSError as error:
        yield file.refusal(f"an unreadable file ({error.strerror})", "a TSV file")


class _IndexFile:
    """The state of reading a file: its headings, the line, and the bytes of an unfinished row."""

    def __init__(self, source: str, seen: SeenIds) -> None:
        self.source, self.seen = source, seen
        self.headings: list[str] = []
        self.line = 1
        self.rest = b""
        self.is_refused = False

    def take(self, piece: bytes) -> Iterator[IndexPart]:
        """Add bytes, and yield the rows that end with them."""
        if self.is_refused:
            return
        self.rest += piece
        whole = self.rest.rfind(b"\n") + 1
        if whole:
            data, self.rest = self.rest[:whole], self.rest[whole:]
            yield from self._read(data, is_last=False)
        elif len(self.rest) > LONGEST_ROW + PIECE:
            self.is_refused = True
            yield self.refusal(f"more than {LONGEST_ROW:,} bytes without a line end", "a TSV file")

    def end(self, damage: str = "") -> Iterator[IndexPart]:
        """Yield the remaining rows. The last line of a damaged file is dropped: it may be cut."""
        if self.is_refused:
            return
        data, self.rest = self.rest, b""
        if damage:
            data = data[: data.rfind(b"\n") + 1]
        if data:
            yield from self._read(data if data.endswith(b"\n") else data + b"\n", is_last=True)
        if damage:
            yield self.refusal(damage, "a complete file")
        elif not self.headings and not self.is_refused:
            yield self.refusal("an empty file", "a TSV file with headings")

    def refusal(self, actual: str, expected: str, todo: str = COMPLETE_FILE) -> IndexPart:
        """Return a problem of the file from this line on."""
        return IndexPart(
            pl.DataFrame(schema=SCHEMA), [Problem(self.source, self.line, actual, expected, todo)]
        )

    def _read(self, data: bytes, *, is_last: bool) -> Iterator[IndexPart]:
        if not self.headings:
            first, _, data = data.partition(b"\n")
            self.headings, expected = _headings(first)
            if expected:
                self.is_refused = True
                yield self.refusal(
                    f"the headings {first[:100].decode(errors='replace')!r}", expected, NAME_COLUMNS
                )
                return
            self.line += 1
        block = read_tsv_block(
            data, source=self.source, headings=self.headings, line=self.line, is_last=is_last
        )
        self.line, self.rest = block.next_line, block.rest + self.rest
        frame, problems = _checked(block.frame, self.source, self.seen)
        problems = sorted([*block.problems, *problems], key=lambda problem: problem.line or 0)
        for start in range(0, max(1, frame.height), ROWS_A_PART):
            yield IndexPart(frame[start : start + ROWS_A_PART], problems if start == 0 else [])


def _headings(first: bytes) -> tuple[list[str], str]:
    """Return our names of the columns, and the expected columns if these cannot be used."""
    text = first.removeprefix(b"\xef\xbb\xbf").decode(errors="replace")
    names = [name.strip().lower() for name in cells_of(text) or []]
    ours = [OTHER_HEADINGS.get(name, name) for name in names]
    lacking = [name for name in NEEDED if name not in ours]
    if lacking:
        return (
            ours,
            "columns named id, post_id, thread_id, type, formula in the first line "
            f"(missing: {', '.join(lacking)})",
        )
    if len(set(ours)) < len(ours):
        return ours, "each heading once"
    return ours, ""


def _checked(rows: pl.DataFrame, source: str, seen: SeenIds) -> tuple[pl.DataFrame, list[Problem]]:
    """Return the rows with valid ids, each formula once, and the problems of the others."""
    frame = rows.select("line", *(_column(name, rows.columns) for name in COLUMNS))
    is_good = frame.select(good=_good())["good"]
    if not is_good.all():
        frame = frame.with_columns(
            pl.exclude("line", "formula").str.strip_chars().replace("", None)
        )
        is_good = frame.select(good=_good())["good"]
    problems = [_bad_row(row, source) for row in frame.filter(~is_good).iter_rows(named=True)]
    frame = frame.filter(is_good) if problems else frame
    numbers = frame["formula_id"].str.strip_prefix("q_").cast(pl.Int64).to_numpy()
    is_new = pl.Series(seen.add_all(numbers), dtype=pl.Boolean)
    if not is_new.all():
        problems += [_again(row, source) for row in frame.filter(~is_new).iter_rows(named=True)]
        frame = frame.filter(is_new)
    return frame.drop("line"), problems


def _column(name: str, known: list[str]) -> pl.Expr:
    return pl.col(name) if name in known else pl.lit(None, pl.String).alias(name)


def _good() -> pl.Expr:
    formula, post = pl.col("formula_id").str.contains(_ID), pl.col("post_id").str.contains(_POST_ID)
    thread = pl.col("thread_id").str.contains(_THREAD_ID).fill_null(value=True)
    return formula.fill_null(value=False) & post.fill_null(value=False) & thread


def _bad_row(row: dict[str, str | int | None], source: str) -> Problem:
    for name, pattern in (("formula_id", _ID), ("post_id", _POST_ID), ("thread_id", _THREAD_ID)):
        text = row[name]
        if text is None and name != "thread_id":
            return _problem(row, source, f"a row without {_in_words(name)}", f"a {_in_words(name)}")
        if text is not None and re.search(pattern, str(text)) is None:
            return _problem(
                row,
                source,
                f"the {_in_words(name)} {str(text)[:60]!r}",
                f"a {_in_words(name)} in digits",
            )
    raise AssertionError(row)


def _again(row: dict[str, str | int | None], source: str) -> Problem:
    return _problem(
        row,
        source,
        f"the formula {row['formula_id']} again",
        "each formula once (the first row was kept)",
    )


def _problem(row: dict[str, str | int | None], source: str, actual: str, expected: str) -> Problem:
    return Problem(source, int(row["line"] or 0), actual, expected, REMEDY)


def _in_words(name: str) -> str:
    return name.replace("_", " ")
