"""Tables as TSV or CSV, written row by row, and archives, written file by file."""

import csv
import io
import zipfile
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import TypeVar

Row = TypeVar("Row")

FORMULA_STARTS = ("=", "+", "-", "@")
"""What a spreadsheet takes for the start of a formula."""


def tsv_lines(
    columns: Mapping[str, Callable[[Row], object]], rows: Iterable[Row]
) -> Iterator[bytes]:
    """Yield the header of a table and its rows as lines of TSV; a column computes its cells.

    None is an empty cell, a truth value `yes` or nothing, a time ISO 8601. A cell with tabs,
    quotation marks or line ends is quoted as in CSV.
    """
    return _lines(columns, rows, marks=("\t", "\n"), cell=_cell)


def csv_lines(
    columns: Mapping[str, Callable[[Row], object]], rows: Iterable[Row]
) -> Iterator[bytes]:
    """Yield the same table as lines of CSV for spreadsheets.

    It starts with a byte order mark, without which some take UTF-8 for another encoding. A text
    that a spreadsheet would compute as a formula starts with an apostrophe. Lines end as in RFC
    4180, so that a single CR in a cell is quoted too.
    """
    yield BOM_UTF8
    yield from _lines(
        columns, rows, marks=(",", "\r\n"), cell=lambda value: _harmless(_cell(value))
    )


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


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return "yes" if value else ""
    return value.isoformat(timespec="seconds") if isinstance(value, datetime) else value


def _harmless(value: object) -> object:
    is_formula = isinstance(value, str) and value.lstrip().startswith(FORMULA_STARTS)
    return f"'{value}" if is_formula else value


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
        taken, self._chunks = b"".join(self._chunks), []
        return taken


def zip_chunks(files: Iterable[tuple[str, bytes]]) -> Iterator[bytes]:
    """Yield a zip archive of files (path, content), with one file in memory at a time."""
    written = _Written()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for path, data in files:
            archive.writestr(path, data)
            yield written.take()
    yield written.take()
