"""From the bytes of a run file to lines and cells: encoding, line ends, quotes, separators."""

import io
import re
from collections.abc import Collection, Iterator
from itertools import islice
from typing import NamedTuple

import polars as pl

from arqkit.formats.runs.report import Count, Finding, Place, listed

SEPARATORS = {"\t": "tab", " ": "space", ",": "comma", ";": "semicolon"}
CSV = (",", ";")
ROW_END = r"\t[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?\t[+-]?[0-9.,]+(?:[eE][+-]?[0-9]+)?\t[^\t,;]*$"
"""Rank, score and run tag, which end every row of a ranked list."""
ANSWER_COMMAS = 4  # before the last two of the six columns of an answer, which may have commas too

UTF8_BOM = b"\xef\xbb\xbf"
UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")
UTF16_PLACE: Place = (None, None, "the byte order mark of UTF-16", "UTF-8")
EVERY_LINE: Place = (None, None, "CR LF at the end of every line", "LF")
BOM_PLACE: Place = (1, None, "the bytes EF BB BF", "the first topic id")
PIECE = 2**20  # bytes decoded at a time
SLICE = 50_000  # lines cut into cells at a time
CHUNK = 20_000  # records held as Python values at a time
EXCERPT = 80  # characters of a line shown in a report
# A quoted cell ends at a quotation mark that is not doubled and that ends the cell.
QUOTED = re.compile(r'"((?:[^"]|"")*+)"(?=\t|\r?\n|\r?\Z)')
PLAIN_END = re.compile(r"[\t\n]|\Z")
_NEEDS_QUOTES = re.compile(r'\A"|[\t\n\r]')


def tabbed_lines(text: pl.Series, widths: Collection[int]) -> tuple[pl.Series, str] | None:
    """Return lines without tabs with tabs as separators, and their own separator.

    Spaces come first, if they make rows of most lines: an id may have commas, and so be mistaken
    for cells of a CSV file. Return None if no separator leads to one of these numbers of columns.
    """
    spaced = text.str.strip_chars(" \t").str.replace_all(_pattern(" "), "\t")
    is_wide = (spaced.str.count_matches("\t", literal=True) + 1).is_in(widths)
    if (is_wide & spaced.str.contains(ROW_END)).sum() * 2 > text.len():
        return spaced, " "
    for mark in CSV:
        width = text.str.count_matches(mark, literal=True) + 1
        if width.is_in(widths).sum() * 2 > text.len():
            return text.str.strip_chars('" ').str.replace_all(_pattern(mark), "\t"), mark
    return (spaced, " ") if is_wide.any() else None


def line_cells(line: str, separator: str) -> list[str]:
    """Return the cells of a line without the spaces and quotation marks around them."""
    if separator == "\t":
        return [cell.strip(" ") for cell in line.split("\t")]
    return re.split(_pattern(separator), line.strip(" \t" if separator == " " else '" '))


def separator_findings(separator: str, lines: pl.DataFrame) -> Iterator[Finding]:
    """Yield whether the columns are separated as in a CSV file.

    `lines` has text and width (`lines.Cells.frame`). Answers, which may contain commas, are not
    cut at commas.
    """
    is_uncut = separator == "\t" and (lines["width"] == 1).sum() * 2 > lines.height
    for mark in CSV:
        many = lines["text"].str.count_matches(mark, literal=True) >= ANSWER_COMMAS
        if separator == mark or (is_uncut and many.sum() * 2 > lines.height):
            place = (None, None, f"{SEPARATORS[mark]}s between the columns", "tabs or spaces")
            facts = {"mark": f"{SEPARATORS[mark]}s"}
            yield Finding("separator", listed([place]), facts, repairable=separator == mark)


def _pattern(separator: str) -> str:
    return "[ \t]+" if separator == " " else f'[" ]*{separator}[" ]*'


class RunText(NamedTuple):
    """A decoded run file: no byte order mark, every line ended by LF or CR LF."""

    data: bytes
    findings: list[Finding]
    is_text: bool = True

    @property
    def can_repair(self) -> bool:
        """Return whether every byte was understood, so that the file can be rewritten."""
        unclear = ("encoding", "null-byte")
        return self.is_text and not any(finding.kind in unclear for finding in self.findings)


class Cells(NamedTuple):
    """The lines of a file cut into cells, without the blank ones.

    `frame` has line (from 1), text (what a report shows), width (the number of cells) and cell_0,
    cell_1 and so on. For quoted records it also has last_line and is_open (a quotation mark is not
    closed). `blank` has line and text.
    """

    frame: pl.DataFrame
    blank: pl.DataFrame
    separator: str


class Record(NamedTuple):
    """A record: its first and last line, and its cells without quotes (none for a blank line)."""

    line: int
    last_line: int
    cells: list[str]
    is_open: bool = False


def decode_run(data: bytes) -> RunText:
    """Decode a run file, and find the problems of its bytes.

    A line that is not UTF-8 is listed with its first wrong byte. Null bytes are removed, so that
    all other problems of their lines are found too.
    """
    if data.startswith(UTF16_BOMS):
        return RunText(b"", [Finding("encoding", listed([UTF16_PLACE]))], is_text=False)
    findings = []
    if data.startswith(UTF8_BOM):
        data = data[len(UTF8_BOM) :]
        findings.append(Finding("bom", listed([BOM_PLACE])))
    if lone := list(_lone_returns(data)):
        findings.append(Finding("cr", listed(lone)))
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if b"\0" in data:
        findings.append(Finding("null-byte", listed(_null_lines(data))))
        data = data.replace(b"\0", b"")
    if broken := list(_broken_lines(data)):
        findings.append(Finding("encoding", listed(broken)))
    return RunText(data, findings)


def line_end_findings(data: bytes, lines: int) -> Iterator[Finding]:
    """Note Windows line ends and a missing line end of the last line; both are accepted."""
    returns = data.count(b"\r\n")
    if returns:
        each = enumerate(io.BytesIO(data), start=1)
        windows = ((n, None, "CR LF", "LF") for n, line in each if line.endswith(b"\r\n"))
        places = [EVERY_LINE] if returns == lines else windows
        yield Finding("crlf", listed(places), {"ends": Count(returns, "line", "lines")})
    if data and not data.endswith(b"\n"):
        yield Finding("no-final-newline", listed([(lines, None, "no line feed", "a line feed")]))


def split_lines(data: bytes) -> pl.Series:
    """Return every line without its line end, blank ones too: line n is at index n - 1.

    Bytes that are not UTF-8 become U+FFFD. The file is decoded in pieces, so that memory holds it
    once and not three times.
    """
    parts = [pl.Series("text", [], dtype=pl.String)]
    for piece in _pieces(data):
        text = piece.decode(errors="replace").removesuffix("\n")
        text = text.replace("\r\n", "\n").removesuffix("\r") if b"\r" in piece else text
        parts.append(pl.Series("text", [text], dtype=pl.String).str.split("\n").explode())
    return pl.concat(parts, rechunk=True)


def cut_lines(lines: pl.Series, widths: Collection[int]) -> Cells:
    """Cut lines at tabs, or at another separator if most have no tab or none has these widths."""
    numbered = pl.DataFrame({"line": pl.int_range(1, lines.len() + 1, eager=True), "text": lines})
    is_blank = lines.str.contains(r"^\s*$")
    blank = numbered.filter(is_blank)
    content = numbered.filter(~is_blank) if blank.height else numbered
    text, separator = content["text"], "\t"
    width = text.str.count_matches("\t", literal=True) + 1
    if not width.is_in(widths).any() or (width == 1).sum() * 2 > content.height:
        text, separator = tabbed_lines(text, widths) or (text, separator)
        width = text.str.count_matches("\t", literal=True) + 1
    # In slices, because cutting takes several times the memory of its result.
    slices = [text.slice(begin, SLICE) for begin in range(0, max(text.len(), 1), SLICE)]
    most = max(widths)
    cells = pl.concat([part.str.split_exact("\t", most - 1).struct.unnest() for part in slices])
    cells.columns = [f"cell_{index}" for index in range(most)]
    return Cells(content.with_columns(width.alias("width"), *cells), blank, separator)


def cut_records(text: str, most: int) -> Cells:
    """Cut a file with quoted cells into records, and keep the first `most` cells of each."""
    every = records(text)
    parts = [_frame(list(islice(every, CHUNK)), most)]
    while parts[-1].height == CHUNK:
        parts.append(_frame(list(islice(every, CHUNK)), most))
    beginning = pl.concat_str(pl.col(r"^cell_\d+$"), separator=" ", ignore_nulls=True)
    frame = pl.concat(parts).with_columns(text=beginning.str.slice(0, EXCERPT))
    return Cells(frame.filter(pl.col("width") > 0), frame.filter(pl.col("width") == 0), "\t")


def records(text: str) -> Iterator[Record]:
    """Yield every record. A quoted cell may span several lines if its quotation mark is closed."""
    position, line = 0, 1
    while position < len(text):
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        if '"' not in text[position:end]:
            cells, is_open = text[position:end].removesuffix("\r").split("\t"), False
        else:
            cells, end, is_open = _quoted_cells(text, position)
        last_line = line + text.count("\n", position, end)
        yield Record(line, last_line, cells if any(cell.strip() for cell in cells) else [], is_open)
        position, line = end + 1, last_line + 1


def write_record(cells: list[str]) -> str:
    """Return a line from which `records` reads these cells, with quotes only where necessary."""
    quoted = {it: '"' + it.replace('"', '""') + '"' for it in cells if _NEEDS_QUOTES.search(it)}
    return "\t".join(quoted.get(cell, cell) for cell in cells)


def _quoted_cells(text: str, position: int) -> tuple[list[str], int, bool]:
    """Return the cells of the record at a position, its end, and whether a quote is not closed."""
    cells, is_open = [], False
    while True:
        if match := QUOTED.match(text, position):
            cells.append(match[1].replace('""', '"'))
            position = match.end()
        else:
            is_open |= text.startswith('"', position)
            plain = PLAIN_END.search(text, position)
            end = plain.start() if plain else len(text)
            cells.append(text[position:end])
            position = end
        if not text.startswith("\t", position):
            break
        position += 1
    cells[-1] = cells[-1].removesuffix("\r")
    end = text.find("\n", position)
    return cells, len(text) if end < 0 else end, is_open


def _frame(part: list[Record], most: int) -> pl.DataFrame:
    facts = {
        "line": pl.Series([record.line for record in part], dtype=pl.Int64),
        "last_line": pl.Series([record.last_line for record in part], dtype=pl.Int64),
        "width": pl.Series([len(record.cells) for record in part], dtype=pl.Int64),
        "is_open": pl.Series([record.is_open for record in part], dtype=pl.Boolean),
    }
    rows = [(record.cells + [None] * most)[:most] for record in part]
    cells = {
        f"cell_{index}": pl.Series([row[index] for row in rows], dtype=pl.String)
        for index in range(most)
    }
    return pl.DataFrame(facts | cells)


def _pieces(data: bytes) -> Iterator[bytes]:
    start = 0
    while start < len(data):
        end = data.find(b"\n", min(start + PIECE, len(data))) + 1 or len(data)
        yield data[start:end]
        start = end


def _null_lines(data: bytes) -> Iterator[Place]:
    for number, line in enumerate(io.BytesIO(data), start=1):
        if b"\0" in line:
            yield number, None, f"byte 00 at byte {line.index(0) + 1:,} of the line", "text"


def _broken_lines(data: bytes) -> Iterator[Place]:
    first = 1
    for piece in _pieces(data):
        try:
            piece.decode()
        except UnicodeDecodeError:
            for number, line in enumerate(piece.split(b"\n"), start=first):
                try:
                    line.decode()
                except UnicodeDecodeError as error:
                    yield number, None, _as_latin(line, error.start), "UTF-8"
        first += piece.count(b"\n")


def _as_latin(line: bytes, position: int) -> str:
    around = line[max(position - 20, 0) : position + 20].decode("latin-1").rstrip("\r")
    byte = f"byte {line[position]:02X} at byte {position + 1} of the line"
    return f"{byte}; as Latin-1 it reads {around!r}"


def _lone_returns(data: bytes) -> Iterator[Place]:
    """Yield the place of each CR without LF. It counts as a line end in the line numbers."""
    if b"\r" not in data or data.count(b"\r") == data.count(b"\r\n"):
        return
    line, start = 1, 0
    while (position := data.find(b"\r", start)) >= 0:
        line += data.count(b"\n", start, position)
        if data[position + 1 : position + 2] != b"\n":
            yield line, None, "CR", "LF"
            line += 1
        start = position + 1
