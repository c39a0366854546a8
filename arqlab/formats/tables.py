"""Tables as TSV, written row by row, and archives, written file by file."""

import csv
import io
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import TypeVar

Row = TypeVar("Row")


def tsv_lines(
    columns: Mapping[str, Callable[[Row], object]], rows: Iterable[Row]
) -> Iterator[bytes]:
    """Yield the header of a table and its rows as lines of TSV; a column computes its cells.

    None is an empty cell, a truth value `yes` or nothing, a time ISO 8601. A cell with tabs,
    quotation marks or line ends is quoted as in CSV.
    """
    line = io.StringIO(newline="")
    writer = csv.writer(line, delimiter="\t", lineterminator="\n")
    writer.writerow(columns)
    yield _taken(line)
    for row in rows:
        writer.writerow([_cell(cell(row)) for cell in columns.values()])
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
