"""Read the formula indexes of the three editions, and the topic formulas in that format (§2).

A file of 28 million rows, or a folder of 101 files, is read in parts, in constant memory.
Unreadable rows are reported by file and line, and the others are kept. Columns are found by their
headings: the first edition has no visual ids, the second has one or two of them, and the third also
has an issue and the id of the comment. In an index of topic formulas, `post_id` is the topic's id.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import polars as pl

from arqkit.formats.archives.compressed import PIECE, DamagedFileError, read_pieces
from arqkit.formats.formulas.seen_ids import SeenIds
from arqkit.formats.formulas.tsv_blocks import LONGEST_ROW, REMEDY, cells_of, read_tsv_block
from arqkit.records import Problem

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
    return sorted((file for file in files if not file.name.startswith(".")), key=_by_number)


def _by_number(file: Path) -> list[tuple[int, str]]:
    return [
        (int(part), "") if part.isdecimal() else (-1, part)
        for part in re.split(r"(\d+)", file.name)
    ]


def _parts(path: Path, source: str, seen: SeenIds) -> Iterator[IndexPart]:
    """Read a file; its last part may have only a problem."""
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
    """Return the names of the columns, and the expected columns if these cannot be used.

    The columns of the editions get our names, others keep theirs.
    """
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
    """Return whether a row's ids are ids."""
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
