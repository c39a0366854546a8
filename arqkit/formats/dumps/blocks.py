"""Cut the XML of a dump into blocks, and read their rows, in constant memory (protocol §2).

The text is cut before a `<row`, because no attribute may contain a bare `<`. Comments become
blanks, and lines keep their numbers. Each block is parsed separately: a malformed row costs only
itself, and several processes can parse blocks. A DOCTYPE is refused.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from lxml import etree

from arqkit.formats.archives.compressed import READ_ERRORS
from arqkit.formats.dumps.sources import DUMP_FILES, Source, opened
from arqkit.records import FileRefusedError, Problem

BLOCK = 2**20
"""The number of bytes read at a time, and the approximate size of a block."""
MAX_ROW = 10_000_000
"""The largest row in bytes: what libxml2 allows for an attribute. Posts have 30,000 at most."""
MOST_ATTRIBUTES = 100
"""Those of posts are 22 at most. lxml takes the square of the time for their number."""
ROW = re.compile(rb"<row(?=[\s/>])")
ROW_TAG = re.compile(rb"""<row(?:\s+[^\s=<>"'/]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*\s*/?>""")

_ASIDE = re.compile(rb"<(?:!--|!\[CDATA\[|\?)")
_ASIDE_ENDS = {b"<!--": b"-->", b"<![CDATA[": b"]]>", b"<?": b"?>"}
_ROOT = re.compile(rb"""\s*<([A-Za-z_][\w.:-]*)(?:[^<>"']|"[^"<]*"|'[^'<]*')*>\s*\Z""")
_KEPT = 64  # bytes: a cut must not fall into `<row` or the last tag


class Block(NamedTuple):
    """Consecutive rows as bytes: the number of the first, their count, the line of the first.

    `problems` are those of the text around the rows, `share` is the share of the file that was read
    so far (0 to 1).
    """

    source: str
    first: int
    row_count: int
    line: int
    data: bytes
    problems: tuple[Problem, ...] = ()
    share: float = 1.0

    @property
    def last(self) -> int:
        """Return the number of the last row, or of the row before an empty block."""
        return self.first + self.row_count - 1


def blocks(path: Path, kind: str) -> Iterator[Block]:
    """Yield the rows of a file as blocks. Faults are problems of a block, never exceptions."""
    try:
        with opened(path, kind) as source:
            yield from _Scan(path.name, kind, source).blocks()
    except FileRefusedError as refused:
        yield Block(path.name, 1, 0, 1, b"", refused.problems)


def too_long(source: str, line: int) -> Problem:
    """Return the problem of a row longer than `MAX_ROW`."""
    actual, expected = f"a row of more than {MAX_ROW:,} bytes", f"at most {MAX_ROW:,} bytes"
    return Problem(source, line, actual, expected, "Shorten its text and import the file again.")


def _without_asides(data: bytes) -> tuple[bytes, int | None]:
    """Blank comments, CDATA and instructions, and return where one opens that has not ended yet.

    Line ends are kept. Only a `<!--` after a tag opens a comment: one within a broken attribute
    must not hide the rows after it.
    """
    start, parts = 0, list[bytes]()
    place = 0
    while aside := _ASIDE.search(data, place):
        place = aside.end()
        if data[max(start, aside.start() - 4096) : aside.start()].rstrip()[-1:] not in (b">", b""):
            continue
        end = data.find(_ASIDE_ENDS[aside[0]], aside.end())
        if end < 0:
            return b"".join([*parts, data[start:]]), aside.start()
        place = end + len(_ASIDE_ENDS[aside[0]])
        parts += [data[start : aside.start()], re.sub(rb"[^\n]", b" ", data[aside.start() : place])]
        start = place
    return (b"".join([*parts, data[start:]]) if parts else data), None


class _Scan:
    """A pass through a file: the bytes not yet in a block, their line, and the name of the root."""

    def __init__(self, name: str, kind: str, source: Source) -> None:
        self.name, self.kind, self.source = name, kind, source
        self.expected_root = f"<{kind.replace('_', '')}>"
        self.buffer, self.line, self.number = b"", 1, 0
        self.root: bytes | None = None
        self.fault = ""
        self.open_aside: int | None = None

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks; the last one has the problems of the end of the file."""
        if not self._find_first_row():
            yield self._block(0, 0, self._without_rows())
            return
        first = ROW.search(self.buffer)
        prolog = self._drop(first.start() if first else 0)
        if refused := self._doctype(prolog):
            yield self._block(0, 0, refused)
            return
        problems = self._problems_of(prolog)
        is_more = True
        while is_more:
            is_more = self._read()
            if cut := self._last_row():
                yield self._block(cut, len(ROW.findall(self.buffer, 0, cut)), problems)
                problems = ()
            elif len(self.buffer) > MAX_ROW:
                line = self.line
                self._drop(_KEPT)
                while (following := ROW.search(self.buffer)) is None:
                    self._drop(max(0, len(self.buffer) - _KEPT))
                    if not self._read():
                        break
                self._drop(following.start() if following else 0)
                yield self._block(0, 1, (*problems, too_long(self.name, line)))
                problems = ()
        yield self._last_block(problems)

    def _read(self) -> bool:
        """Read another part of the file; return False at its end or at a fault."""
        try:
            part = self.source.text.read(BLOCK)
        except READ_ERRORS as error:
            part, self.fault = b"", str(error) or "a damaged file"
        self.buffer += part
        self.buffer, self.open_aside = _without_asides(self.buffer)
        return bool(part)

    def _opens_before(self, end: int) -> bool:
        """Return whether an unfinished comment opens before a place, unless it is too long."""
        return self.open_aside is not None and self.open_aside < end and len(self.buffer) <= MAX_ROW

    def _find_first_row(self) -> bool:
        while (first := ROW.search(self.buffer)) is None or self._opens_before(first.start()):
            if len(self.buffer) > MAX_ROW or not self._read():
                return first is not None
        return True

    def _last_row(self) -> int:
        place = len(self.buffer)
        if self.open_aside is not None and self._opens_before(place):
            place = self.open_aside
        while (place := self.buffer.rfind(b"<row", 0, place)) > 0 and not ROW.match(
            self.buffer, place
        ):
            pass
        return max(place, 0)

    def _drop(self, cut: int) -> bytes:
        dropped, self.buffer = self.buffer[:cut], self.buffer[cut:]
        self.line += dropped.count(b"\n")
        return dropped

    def _block(self, cut: int, count: int, problems: tuple[Problem, ...]) -> Block:
        """Return the beginning of the buffer as a block, and continue after it."""
        first, line = self.number + 1, self.line
        self.number += count
        return Block(self.name, first, count, line, self._drop(cut), problems, self.source.share())

    def _last_block(self, problems: tuple[Problem, ...]) -> Block:
        """Return the last row, with a problem if the file ends before the root is closed."""
        end_tag = rb"</" + re.escape(self.root or b"/") + rb"\s*>\s*\Z"
        closing = re.search(end_tag, self.buffer) if self.root else None
        is_row = ROW.match(self.buffer) is not None
        if closing and not self.fault:
            return self._block(closing.start(), int(is_row), problems)
        end = closing.start() if closing else self._end_of_row()
        line = self.line + (self.buffer.count(b"\n") if end else 0)
        if self.root or self.fault or (is_row and not end):
            problems = (*problems, self._cut_short(line))
        return self._block(end, int(is_row), problems)

    def _end_of_row(self) -> int:
        tag = ROW_TAG.match(self.buffer)
        if tag is None or tag[0].endswith(b"/>"):
            return tag.end() if tag else 0
        end = re.compile(rb"</row\s*>").search(self.buffer, tag.end())
        return end.end() if end else 0

    def _problems_of(self, prolog: bytes) -> tuple[Problem, ...]:
        """Read the name of the root, and return the problems before the first row."""
        if root := _ROOT.match(prolog):
            self.root = root[1]
            return ()
        actual = "other text before the first row" if prolog.strip() else "a row without a root"
        return (Problem(self.name, 1, actual, self.expected_root, "Import the complete file."),)

    def _without_rows(self) -> tuple[Problem, ...]:
        if refused := self._doctype(self.buffer):
            return refused
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
        try:
            root = etree.fromstring(self.buffer, parser)
        except etree.XMLSyntaxError:
            return (self._cut_short(self.line + self.buffer.count(b"\n")),)
        if self.fault:
            return (self._cut_short(1),)
        if not len(root):  # an empty root may have any name
            return ()
        actual, expected = f"no row in <{root.tag}>", f"{self.expected_root} with its rows"
        return (Problem(self.name, 1, actual, expected, f"Import {DUMP_FILES[self.kind]}."),)

    def _doctype(self, text: bytes) -> tuple[Problem, ...]:
        """Return the problem of a text with a DOCTYPE, if it has one."""
        if b"<!DOCTYPE" not in text and b"<!ENTITY" not in text:
            return ()
        todo = "Remove the DOCTYPE, and replace its entities with their text."
        return (Problem(self.name, 1, "a DOCTYPE", "XML without a DOCTYPE", todo),)

    def _cut_short(self, line: int) -> Problem:
        actual = f"the end of the file ({self.fault})" if self.fault else "the end of the file"
        rows = f"the rows of {DUMP_FILES[self.kind]} as XML"
        expected = f"</{self.root.decode()}>" if self.root else rows
        todo = "Import the complete file. The rows before this line are imported."
        return Problem(self.name, line, actual, expected, todo)


class DumpRow(NamedTuple):
    """A row of a dump: its number (from 1), its first line, its attributes."""

    number: int
    line: int
    fields: Mapping[str, str]


def rows(path: Path, kind: str) -> Iterator[DumpRow | Problem]:
    """Yield the rows of a file, or a Problem for each malformed row.

    A truncated or damaged file, or one with a DOCTYPE, yields the rows before and then a Problem.
    Nothing is raised.
    """
    for block in blocks(path, kind):
        yield from read_block(block)


def read_block(block: Block) -> Iterator[DumpRow | Problem]:
    """Yield the rows of a block. A row that is not XML becomes a problem; the others are read.

    The block is parsed as a whole, which is faster, and row by row only if that fails.
    """
    data = block.data
    starts = [match.start() for match in ROW.finditer(data)]
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        remove_comments=True,
        remove_pis=True,
        huge_tree=True,
    )
    whole = _parsed(data, parser) if len(data) <= MAX_ROW else "too long for one"
    elements = None if isinstance(whole, str) or len(whole) != len(starts) else list(whole)
    line = block.line
    for place, (start, end) in enumerate(pairwise([*starts, len(data)])):
        number = block.first + place
        if elements is not None and len(elements[place].attrib) <= MOST_ATTRIBUTES:
            yield DumpRow(number, line, _fields(elements[place]))
        else:
            yield from _read_row(data[start:end], parser, number, line, block.source)
        line += data.count(b"\n", start, end)
    yield from block.problems


def _fields(row: etree._Element) -> dict[str, str]:
    return dict(row.items())  # type: ignore[arg-type]  # the stubs let both be bytes


def _parsed(data: bytes, parser: etree.XMLParser) -> etree._Element | str:
    try:
        return etree.fromstring(b"<rows>" + data + b"</rows>", parser)
    except etree.XMLSyntaxError as error:
        return re.sub(r", line \d.*", "", error.msg or "not well-formed")


def _read_row(
    data: bytes, parser: etree.XMLParser, number: int, line: int, source: str
) -> Iterator[DumpRow | Problem]:
    """Read a single row; it is kept if only the text after it is broken."""
    if len(data) > MAX_ROW:
        yield too_long(source, line)
        return
    parsed: etree._Element | str = _parsed(data, parser)
    following = ""
    tag = ROW_TAG.match(data)
    if isinstance(parsed, str) and tag and tag[0].endswith(b"/>"):
        following = parsed
        parsed = _parsed(tag[0], parser)
    if isinstance(parsed, str):
        expected = "well-formed XML: values in quotes, and <, & and quotes in them escaped"
        actual, todo = f"a malformed row ({parsed})", "Correct the row, and import the file again."
        yield Problem(source, line, actual, expected, todo)
        return
    if (count := len(parsed[0].attrib)) > MOST_ATTRIBUTES:
        actual, expected = f"a row of {count:,} attributes", f"at most {MOST_ATTRIBUTES} attributes"
        yield Problem(source, line, actual, expected, "Remove the others.")
        return
    yield DumpRow(number, line, _fields(parsed[0]))
    if following and tag:
        place, actual = line + tag[0].count(b"\n"), f"other text after a row ({following})"
        yield Problem(source, place, actual, "the next row", "Remove the text.")
