"""From the bytes of a run file to its lines: encoding, byte order mark, line ends."""

import io
from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

from arqlab.formats.runs.report import Finding, Place, listed

UTF8_BOM = b"\xef\xbb\xbf"
UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")
UTF16_PLACE: Place = (None, None, "the byte order mark of UTF-16", "UTF-8")
EVERY_LINE: Place = (None, None, "CR LF at the end of every line", "LF")
PIECE = 2**20
BOM_PLACE: Place = (1, None, "the bytes EF BB BF", "the first topic id")


class RunText(NamedTuple):
    """A run file without byte order mark, every line ended by LF or CR LF, and what was odd about
    its bytes.
    """

    data: bytes
    findings: list[Finding]
    is_text: bool = True

    @property
    def can_repair(self) -> bool:
        """Report whether the file can be read for certain: only then can it be written anew."""
        return self.is_text and not any(finding.kind == "encoding" for finding in self.findings)


def decode_run(data: bytes) -> RunText:
    """Look at the bytes of a run file. Lines that are not UTF-8 are listed, with the first wrong
    byte of each.
    """
    if data.startswith(UTF16_BOMS):
        return RunText(b"", [Finding("encoding", listed([UTF16_PLACE]))], is_text=False)
    if b"\0" in data:
        return RunText(b"", [Finding("null-byte", listed([_null_byte(data)]))], is_text=False)
    findings = []
    if data.startswith(UTF8_BOM):
        data = data[len(UTF8_BOM) :]
        findings.append(Finding("bom", listed([BOM_PLACE])))
    if lone := list(_lone_returns(data)):
        findings.append(Finding("cr", listed(lone)))
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if broken := list(_broken_lines(data)):
        findings.append(Finding("encoding", listed(broken)))
    return RunText(data, findings)


def split_lines(data: bytes) -> pl.Series:
    """Return every physical line without its line end, blank ones too: line n is at index n - 1.

    Bytes that are not UTF-8 become U+FFFD. The file is decoded in pieces, so that it is in memory
    once and not thrice.
    """
    parts = [pl.Series("text", [], dtype=pl.String)]
    for piece in _pieces(data):
        text = piece.decode(errors="replace").removesuffix("\n")
        text = text.replace("\r\n", "\n").removesuffix("\r") if b"\r" in piece else text
        parts.append(pl.Series("text", [text], dtype=pl.String).str.split("\n").explode())
    return pl.concat(parts, rechunk=True)


def line_end_findings(data: bytes, lines: int) -> Iterator[Finding]:
    """Note line ends of Windows and a last line without a line end; both are accepted."""
    returns = data.count(b"\r\n")
    if returns:
        places = [EVERY_LINE] if returns == lines else _windows_lines(data)
        yield Finding("crlf", listed(places), {"lines": f"{returns:,} line{'s' * (returns > 1)}"})
    if data and not data.endswith(b"\n"):
        yield Finding("no-final-newline", listed([(lines, None, "no line feed", "a line feed")]))


def _pieces(data: bytes) -> Iterator[bytes]:
    """Cut the file into pieces of about a mebibyte that end with a line."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", min(start + PIECE, len(data))) + 1 or len(data)
        yield data[start:end]
        start = end


def _windows_lines(data: bytes) -> Iterator[Place]:
    for number, line in enumerate(io.BytesIO(data), start=1):
        if line.endswith(b"\r\n"):
            yield number, None, "CR LF", "LF"


def _null_byte(data: bytes) -> Place:
    """Return the place of the first null byte; a file with one is not read further."""
    position = data.find(b"\0")
    line = data.count(b"\n", 0, position) + 1
    return line, None, f"byte 00 at byte {position + 1:,} of the file", "text"


def _broken_lines(data: bytes) -> Iterator[Place]:
    """Return a place for each line that is not UTF-8: its first wrong byte, and how it reads as
    Latin-1.
    """
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
    return f"byte {line[position]:02X} at byte {position + 1} of the line; as Latin-1 it reads {around!r}"


def _lone_returns(data: bytes) -> Iterator[Place]:
    """Return a place for each CR that no LF follows; line numbers count it as a line end."""
    if b"\r" not in data or data.count(b"\r") == data.count(b"\r\n"):
        return
    line, start = 1, 0
    while (position := data.find(b"\r", start)) >= 0:
        line += data.count(b"\n", start, position)
        if data[position + 1 : position + 2] != b"\n":
            yield line, None, "CR", "LF"
            line += 1
        start = position + 1
