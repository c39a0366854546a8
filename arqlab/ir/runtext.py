"""From the bytes of a run file to its lines: encoding, byte order mark, line ends."""

from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

from arqlab.ir.runreport import Finding, Place, listed

UTF8_BOM = b"\xef\xbb\xbf"
UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")
UTF16_PLACE: Place = (None, None, "the byte order mark of UTF-16", "UTF-8")
BOM_PLACE: Place = (1, None, "the bytes EF BB BF", "the first topic id")


class RunText(NamedTuple):
    """A run file as text without byte order mark, every line ended by LF or CR LF, and what was odd about its bytes."""

    text: str
    findings: list[Finding]
    is_text: bool = True

    @property
    def can_repair(self) -> bool:
        """Tell whether the text is what the file says: only then can it be written anew."""
        return self.is_text and not any(finding.kind == "encoding" for finding in self.findings)


def read_text(data: bytes) -> RunText:
    """Decode a run file. Bytes that are not UTF-8 become U+FFFD and are listed, the first of each line."""
    if data.startswith(UTF16_BOMS):
        return RunText("", [Finding("encoding", listed([UTF16_PLACE]))], is_text=False)
    if b"\0" in data:
        return RunText("", [Finding("null-byte", listed([_null_byte(data)]))], is_text=False)
    findings = []
    if data.startswith(UTF8_BOM):
        data = data[len(UTF8_BOM) :]
        findings.append(Finding("bom", listed([BOM_PLACE])))
    if lone := list(_lone_returns(data)):
        findings.append(Finding("cr", listed(lone)))
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if broken := list(_broken_lines(data)):
        findings.append(Finding("encoding", listed(broken)))
    return RunText(data.decode(errors="replace"), findings)


def split_lines(text: str) -> pl.Series:
    """Give every physical line without its LF, blank ones too; a CR before it is kept. Line n is at index n - 1."""
    lines = pl.Series("text", [text], dtype=pl.String).str.split("\n").explode()
    return lines.head(lines.len() - 1) if not text or text.endswith("\n") else lines


def line_end_findings(text: str, lines: pl.Series) -> Iterator[Finding]:
    """Note line ends of Windows and a last line without a line end; both are accepted."""
    if "\r" in text:
        rows = pl.DataFrame({"line": pl.int_range(1, lines.len() + 1, eager=True), "text": lines})
        ends = rows.filter(pl.col("text").str.ends_with("\r"))
        places = ends.select("line", topic=pl.lit(None, pl.String), found=pl.lit("CR LF"), expected=pl.lit("LF"))
        yield Finding("crlf", places)
    if text and not text.endswith("\n"):
        yield Finding("no-final-newline", listed([(lines.len(), None, "no line feed", "a line feed")]))


def _null_byte(data: bytes) -> Place:
    """Give the place of the first null byte; a file with one is not read further."""
    position = data.find(b"\0")
    line = data.count(b"\n", 0, position) + 1
    return line, None, f"byte 00 at byte {position + 1:,} of the file", "text"


def _broken_lines(data: bytes) -> Iterator[Place]:
    """Give a place for each line that is not UTF-8: its first wrong byte, and how it reads as Latin-1."""
    view, line, start = memoryview(data), 1, 0
    while True:
        try:
            str(view[start:], "utf-8")
        except UnicodeDecodeError as error:
            position = start + error.start
            line += data.count(b"\n", start, position)
            end = data.find(b"\n", position)
            end = len(data) if end < 0 else end
            yield line, None, _as_latin(data, position, end), "UTF-8"
            line, start = line + 1, end + 1
        else:
            return


def _as_latin(data: bytes, position: int, end: int) -> str:
    begin = data.rfind(b"\n", 0, position) + 1
    around = data[max(position - 20, begin) : min(position + 20, end)].decode("latin-1")
    return f"byte {data[position]:02X} at byte {position - begin + 1} of the line; as Latin-1 it reads {around!r}"


def _lone_returns(data: bytes) -> Iterator[Place]:
    """Give a place for each CR that no LF follows; line numbers count it as a line end."""
    if b"\r" not in data or data.count(b"\r") == data.count(b"\r\n"):
        return
    line, start = 1, 0
    while (position := data.find(b"\r", start)) >= 0:
        line += data.count(b"\n", start, position)
        if data[position + 1 : position + 2] != b"\n":
            yield line, None, "CR", "LF"
            line += 1
        start = position + 1
