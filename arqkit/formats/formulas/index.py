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
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from arqkit.formats.archives.compressed import PIECE, DamagedFileError, read_pieces
from arqkit.formats.formulas.seen_ids import SeenIds
from arqkit.records import Problem
from arqkit.topics import natural_key

LINE_END, TAB, QUOTE, CR = b'\n\t"\r'
LONGEST_ROW = 4 * 1024 * 1024  # bytes that a quoted cell over several lines may take
REMEDY = "Correct the row, or write the file again."
_CELL = re.compile(r'"((?:[^"]|"")*)"(?=\t|$)|([^\t"][^\t]*|)(?=\t|$)')
_OPENING = re.compile(rb'(?:^|\t)"')
_A_ROW = re.compile(rb'"?(?:q_)?\d+"?\t"?(?:[A-Z]\.)?\d*"?\t')

Places = npt.NDArray[np.int64]

COLUMNS = (
    *("formula_id", "post_id", "thread_id", "type", "comment_id"),
    *("old_visual_id", "visual_id", "issue", "formula"),
)
ROWS_A_PART = 100_000
"""The rows that are a frame at a time: memory does not grow with the index."""
SCHEMA = dict.fromkeys(COLUMNS, pl.String)
SUFFIXES = (".tsv", ".tsv.gz", ".tsv.bz2")
OTHER_HEADINGS = {
    "id": "formula_id",
    "topic_id": "post_id",
    **dict.fromkeys(("slt", "opt", "latex", "mathml"), "formula"),
}
NEEDED = ("formula_id", "post_id", "thread_id", "type", "formula")
COMPLETE_FILE = "Import the complete file."
NAME_COLUMNS = (
    "Name the columns in the first line. The file must be tab-separated UTF-8 text, plain or "
    "compressed as .gz or .bz2."
)
_TEXT_ID = r'^[^\s"<>&]{1,300}$'
# Those with a dot are ours: of a post or a comment.
_ID = r"^(?:q_)?[0-9]{1,18}$|^c?[0-9]{1,18}\.[0-9]{1,9}$"
_POST_ID = r"^(?:[0-9]{1,18}|[A-Z]\.[0-9]{1,9})$"
_THREAD_ID = r"^[0-9]{1,18}$"


class TsvBlock(NamedTuple):
    """The rows of a block (`line` and a column per heading), their problems, and unused bytes."""

    frame: pl.DataFrame
    problems: list[Problem]
    rest: bytes
    next_line: int


@dataclass
class _PlainLoop:
    """The rows of a block that are read one by one, and the problems of others."""

    source: str
    headings: list[str]
    lines: list[int] = field(default_factory=list)
    rows: list[list[str | None]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def read(self, lines: list[bytes], line: int, *, is_last: bool) -> int:
        """Read rows, of which the first is line `line`. Return how many lines finished rows have.

        A row whose quotes are open at the end of the block is unfinished, if it may go on.
        """
        first = 0
        while first < len(lines):
            last, is_closed = _row_end(lines, first)
            raw = b"\n".join(lines[first : last + 1])
            if not is_closed and last + 1 == len(lines) and not is_last and len(raw) <= LONGEST_ROW:
                break
            try:
                if raw.strip():
                    cells = self._cells(raw, is_closed=is_closed)
                    self.lines.append(line + first)
                    self.rows.append(cells)
            except ValueError as odd:
                actual, expected = odd.args
                self.problems.append(Problem(self.source, line + first, actual, expected, REMEDY))
            first = last + 1
        return first

    def _cells(self, raw: bytes, *, is_closed: bool) -> list[str | None]:
        """Return the cells of a row. Raise ValueError with what was found and expected."""
        if not is_closed:
            raise ValueError("an unclosed quoted cell", 'a cell that ends with "')
        try:
            cells = cells_of(raw.decode())
        except UnicodeDecodeError as error:
            actual = f"the byte 0x{raw[error.start]:02X}, which is not UTF-8"
            raise ValueError(actual, "text in UTF-8") from error
        if cells is None:
            actual = "a quoted cell with a single quote in it"
            raise ValueError(actual, "doubled quotes inside a quoted cell")
        if len(cells) != len(self.headings):
            expected = f"{len(self.headings)} columns, as in the headings"
            raise ValueError(f"{len(cells)} columns", expected)
        return [cell or None for cell in cells]


def _row_end(lines: list[bytes], first: int) -> tuple[int, bool]:
    """Return the last line of the row that begins in a line, and whether its cells are closed."""
    if lines[first].count(b'"') % 2 == 0 or not _OPENING.search(lines[first]):
        return first, True
    for last in range(first + 1, len(lines)):
        if _A_ROW.match(lines[last]):
            return last - 1, False
        if lines[last].count(b'"') % 2:
            return last, True
    return len(lines) - 1, False


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
    block = _regular_block(data, headings, line)
    if block and not (block.rest and (is_last or len(block.rest) > LONGEST_ROW)):
        return block
    loop = _PlainLoop(source, headings)
    lines = data.split(b"\n")[:-1]
    ended = loop.read(lines, line, is_last=is_last)
    frame = pl.DataFrame(loop.rows, schema=dict.fromkeys(headings, pl.String), orient="row")
    frame = frame.with_columns(line=pl.Series(loop.lines, dtype=pl.Int64))
    rest = b"".join(raw + b"\n" for raw in lines[ended:])
    return TsvBlock(frame, loop.problems, rest, line + ended)


def _regular_block(data: bytes, headings: list[str], line: int) -> TsvBlock | None:
    """Read all finished rows of a block at once, or return None if any of them is odd."""
    buffer = np.frombuffer(data, np.uint8)
    ends, quotes, tabs = (np.flatnonzero(buffer == sign) for sign in (LINE_END, QUOTE, TAB))
    ends_row = _are_outside(ends, quotes)
    last_lines = np.flatnonzero(ends_row)
    cells = np.searchsorted(tabs[_are_outside(tabs, quotes)], ends[last_lines])
    if (
        not _are_paired(buffer, quotes)
        or (np.diff(cells, prepend=0) != len(headings) - 1).any()
        or any(_A_ROW.match(data, end + 1) for end in ends[~ends_row])
    ):
        return None
    size = int(ends[last_lines[-1]]) + 1 if len(last_lines) else 0
    frame = pl.DataFrame(schema=(schema := dict.fromkeys(headings, pl.String)))
    try:
        if size:
            frame = pl.read_csv(data[:size], separator="\t", has_header=False, schema=schema)
    except pl.exceptions.ComputeError:  # bytes that are not UTF-8
        return None
    next_lines = last_lines + line + 1
    lines = pl.Series([line, *next_lines][: len(next_lines)], dtype=pl.Int64)
    frame = frame.with_columns(pl.all().replace("", None), line=lines)
    return TsvBlock(frame, [], data[size:], int(next_lines[-1]) if size else line)


def _are_outside(places: Places, quotes: Places) -> npt.NDArray[np.bool_]:
    """Return whether places are outside quoted cells, if the quotes are in pairs."""
    return np.asarray(np.searchsorted(quotes, places) % 2 == 0)


def _are_paired(buffer: npt.NDArray[np.uint8], quotes: Places) -> bool:
    """Return whether every other quote opens a cell, and the next one closes it.

    Of a doubled quote in a cell, the first closes it and the second opens it again.
    """
    closing = quotes[1::2]
    # The byte before a quote at the very beginning is the last one, which is a line end.
    before, after = buffer[quotes[::2] - 1], buffer[closing + 1]
    is_end = np.isin(after, (TAB, LINE_END, QUOTE))
    is_end |= (after == CR) & (buffer[(closing + 2) % len(buffer)] == LINE_END)
    return bool(np.isin(before, (TAB, LINE_END, QUOTE)).all() and is_end.all())


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
    earlier_ids = SeenIds()
    if not path.is_dir():
        yield from _parts(path, path.name, earlier_ids)
        return
    files = index_files(path)
    if not files:
        actual, expected = "a folder without an index", f"files ending in {', '.join(SUFFIXES)}"
        problem = Problem(path.name, None, actual, expected, "Name another folder.")
        yield IndexPart(pl.DataFrame(schema=SCHEMA), [problem])
    for file in files:
        yield from _parts(file, f"{path.name}/{file.name}", earlier_ids)


def index_files(folder: Path) -> list[Path]:
    """Return the TSV files of a folder, with 2.tsv before 10.tsv."""
    files = [file for file in folder.iterdir() if file.name.lower().endswith(SUFFIXES)]
    visible = (file for file in files if file.is_file() and not file.name.startswith("."))
    return sorted(visible, key=lambda file: natural_key(file.name))


def _parts(path: Path, source: str, earlier_ids: SeenIds) -> Iterator[IndexPart]:
    file = _IndexFile(source, earlier_ids)
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

    def __init__(self, source: str, earlier_ids: SeenIds) -> None:
        self.source, self.seen = source, earlier_ids
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
        problem = Problem(self.source, self.line, actual, expected, todo)
        return IndexPart(pl.DataFrame(schema=SCHEMA), [problem])

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
        expected = "columns named id, post_id, thread_id, type, formula in the first line"
        return ours, f"{expected} (missing: {', '.join(lacking)})"
    if len(set(ours)) < len(ours):
        return ours, "each heading once"
    return ours, ""


def _checked(
    rows: pl.DataFrame, source: str, earlier_ids: SeenIds
) -> tuple[pl.DataFrame, list[Problem]]:
    """Return the rows with valid ids, each formula once, and the problems of the others."""
    missing = {name: pl.lit(None, pl.String) for name in COLUMNS if name not in rows.columns}
    frame = rows.with_columns(**missing).select("line", *COLUMNS)
    is_good = frame.select(good=_good())["good"]
    if not is_good.all():
        frame = frame.with_columns(
            pl.exclude("line", "formula").str.strip_chars().replace("", None)
        )
        is_good = frame.select(good=_good())["good"]
    problems = [_bad_row(row, source) for row in frame.filter(~is_good).iter_rows(named=True)]
    frame = frame.filter(is_good) if problems else frame
    ids = frame["formula_id"]
    numbers = ids.str.strip_prefix("q_").cast(pl.Int64, strict=False)
    if numbers.has_nulls():
        numbers = numbers.fill_null(ids.hash().reinterpret(signed=True))
    is_new = pl.Series(earlier_ids.add_all(numbers.to_numpy()), dtype=pl.Boolean)
    if not is_new.all():
        expected = "each formula once (the first row was kept)"
        for line, name in frame.filter(~is_new).select("line", "formula_id").iter_rows():
            problems.append(Problem(source, line, f"the formula {name} again", expected, REMEDY))
        frame = frame.filter(is_new)
    return frame.drop("line"), problems


def _good() -> pl.Expr:
    formula, post = pl.col("formula_id").str.contains(_ID), pl.col("post_id").str.contains(_POST_ID)
    thread = pl.col("thread_id").str.contains(_THREAD_ID).fill_null(value=True)
    in_digits = formula.fill_null(value=False) & post.fill_null(value=False) & thread
    # Formulas of documents have the id of the document, and more.
    named = pl.col("formula_id").str.contains(_TEXT_ID) & pl.col("formula_id").str.starts_with(
        pl.col("post_id") + ":"
    )
    return in_digits | named.fill_null(value=False)


def _bad_row(row: dict[str, Any], source: str) -> Problem:
    for name, pattern in (("formula_id", _ID), ("post_id", _POST_ID), ("thread_id", _THREAD_ID)):
        text, word = row[name], name.replace("_", " ")
        if text is None and name != "thread_id":
            return Problem(source, row["line"], f"a row without {word}", f"a {word}", REMEDY)
        if text is not None and re.search(pattern, text) is None:
            expected = f"a {word} in digits, or ids such as Parabola:0 in Parabola"
            return Problem(source, row["line"], f"the {word} {text[:60]!r}", expected, REMEDY)
    raise AssertionError(row)
