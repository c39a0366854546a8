"""Tables as TSV, CSV, JSON or LaTeX, written row by row, and archives, written file by file.

Spreadsheets open both. A text that a spreadsheet would compute as a formula starts with an
apostrophe in every table for people; files that programs read again are exact.
"""

import csv
import io
import json
import math
import re
import zipfile
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TypeVar

import polars as pl

from arqkit.formats.latex import latex_text

Row = TypeVar("Row")

CONTENT_TYPES = {
    "tsv": "text/tab-separated-values; charset=utf-8",
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "tex": "application/x-tex; charset=utf-8",
}
"""The content types of files with tables, by the ending of their names."""

FILE_ENDINGS = {"tsv": "tsv", "csv": "csv", "json": "json", "latex": "tex"}
"""The formats of tables, as addresses and commands name them, with the endings of their files."""

FORMULA = re.compile(r"^\s*[=+\-@]")
"""What a spreadsheet takes for the start of a formula."""
NUMBER = re.compile(r"^\s*[+-]?[0-9.]+(e[+-]?[0-9]+)?%?\s*$")
"""Text that starts like a formula but is not one."""


def table_lines(
    columns: Mapping[str, Callable[[Row], object]], rows: Iterable[Row], *, ending: str
) -> Iterator[bytes]:
    """Yield a table as the lines of a file with one of the endings of `CONTENT_TYPES`."""
    return _WRITERS[ending](columns, rows)


def tsv_lines(
    columns: Mapping[str, Callable[[Row], object]], rows: Iterable[Row], *, exact: bool = False
) -> Iterator[bytes]:
    """Yield the header of a table and its rows as lines of TSV; a column computes its cells.

    None is an empty cell, a truth value `yes` or nothing, a time ISO 8601. A cell with tabs,
    quotation marks or line ends is quoted as in CSV. An exact table is read again by programs.
    """
    cell = partial(_cell, exact=True) if exact else _harmless_cell
    return _lines(columns, rows, marks=("\t", "\n"), cell=cell)


def csv_lines(
    columns: Mapping[str, Callable[[Row], object]], rows: Iterable[Row]
) -> Iterator[bytes]:
    """Yield the same table as lines of CSV for spreadsheets.

    It starts with a byte order mark, without which some take UTF-8 for another encoding. Lines end
    as in RFC 4180, so that a single CR in a cell is quoted too.
    """
    yield BOM_UTF8
    yield from _lines(columns, rows, marks=(",", "\r\n"), cell=_harmless_cell)


def _json_lines(
    columns: Mapping[str, Callable[[Row], object]], rows: Iterable[Row]
) -> Iterator[bytes]:
    """Yield a list of objects, one on a line. A figure that is no number is null, as None is."""
    start = "["
    for row in rows:
        values = {name: value(row) for name, value in columns.items()}
        record = {
            n: None if isinstance(v, float) and not math.isfinite(v) else v
            for n, v in values.items()
        }
        text = json.dumps(record, ensure_ascii=False, default=lambda value: str(_cell(value)))
        yield f"{start}\n{text}".encode()
        start = ","
    yield b"\n]\n" if start == "," else b"[]\n"


def _latex_lines(
    columns: Mapping[str, Callable[[Row], object]], rows: Iterable[Row]
) -> Iterator[bytes]:
    """Yield a table for a paper; floats have four decimals, and columns of numbers are right."""
    cells = [[value(row) for value in columns.values()] for row in rows]
    sides = "".join(
        "r" if any(isinstance(row[place], int | float) for row in cells) else "l"
        for place in range(len(columns))
    )
    yield f"% Needs \\usepackage{{booktabs}}.\n\\begin{{tabular}}{{{sides}}}\n\\toprule\n".encode()
    lines: list[list[object]] = [list(columns), *cells]
    for place, row in enumerate(lines):
        yield (" & ".join(map(_latex_cell, row)) + r" \\" + "\n").encode()
        yield b"\\midrule\n" if place == 0 else b""
    yield b"\\bottomrule\n\\end{tabular}\n"


def _latex_cell(value: object) -> str:
    value = _cell(value)
    return latex_text(
        f"{value:.4f}" if isinstance(value, float) else "" if value is None else str(value)
    )


def table_text(rows: Iterable[Sequence[object]], *, delimiter: str = "\t") -> str:
    """Return rows of cells, the first of which is the header, as TSV or CSV for people."""
    harmless = ([_harmless(cell) for cell in row] for row in rows)
    return exact_table(harmless, delimiter=delimiter).decode()


def exact_table(
    rows: Iterable[Sequence[object]], *, delimiter: str = ",", end: str = "\n"
) -> bytes:
    """Return rows of cells, the first of which is the header, as a file for programs."""
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator=end).writerows(rows)
    return text.getvalue().encode()


def frame_text(frame: pl.DataFrame, *, delimiter: str = "\t") -> str:
    """Return a data frame as TSV or CSV with a header."""
    texts = pl.col(pl.String)
    is_formula = texts.str.contains(FORMULA.pattern) & ~texts.str.contains(NUMBER.pattern)
    harmless = pl.when(is_formula).then("'" + texts).otherwise(texts).name.keep()
    return frame.with_columns(harmless).write_csv(separator=delimiter)


def _lines(
    columns: Mapping[str, Callable[[Row], object]],
    rows: Iterable[Row],
    *,
    marks: tuple[str, str],
    cell: Callable[[object], object],
) -> Iterator[bytes]:
    """Yield the lines of a table; `marks` separate its cells and end its lines."""
    delimiter, end = marks
    line = io.StringIO(newline="")
    writer = csv.writer(line, delimiter=delimiter, lineterminator=end)
    writer.writerow(columns)
    yield _taken(line)
    for row in rows:
        writer.writerow([cell(column(row)) for column in columns.values()])
        yield _taken(line)


def _taken(line: io.StringIO) -> bytes:
    text = line.getvalue()
    line.seek(0)
    line.truncate()
    return text.encode()


def _cell(value: object, *, exact: bool = False) -> object:
    if isinstance(value, datetime):
        return value.isoformat(timespec="auto" if exact else "seconds")
    return ("yes" if value else "") if isinstance(value, bool) else value


def _harmless(value: object) -> object:
    is_formula = isinstance(value, str) and FORMULA.match(value) and not NUMBER.match(value)
    return f"'{value}" if is_formula else value


def _harmless_cell(value: object) -> object:
    return _harmless(_cell(value))


class _Written(io.RawIOBase):
    """A file that keeps what was written until it is taken."""

    def __init__(self) -> None:
        self._chunks: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        self._chunks.append(bytes(data))  # type: ignore[call-overload]
        return len(self._chunks[-1])

    def take(self) -> bytes:
        data, self._chunks = b"".join(self._chunks), []
        return data


def zip_chunks(files: Iterable[tuple[str, bytes | Iterable[bytes]]]) -> Iterator[bytes]:
    """Yield a zip archive of files (path, content or its chunks), with one chunk in memory."""
    written = _Written()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for path, data in files:
            with archive.open(path, "w", force_zip64=True) as entry:
                for chunk in [data] if isinstance(data, bytes) else data:
                    entry.write(chunk)
                    yield written.take()
    yield written.take()


_WRITERS: dict[str, Callable[..., Iterator[bytes]]] = {
    "tsv": tsv_lines,
    "csv": csv_lines,
    "json": _json_lines,
    "tex": _latex_lines,
}
