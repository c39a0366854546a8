"""Read the rows of a dump's XML as a stream, in constant memory (protocol §2).

Each block of rows is parsed separately. A malformed row therefore costs only itself, line numbers
are right for files of any length, and several processes can parse blocks. A DOCTYPE is refused, so
there are no entities to resolve.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from lxml import etree

from arqkit.formats.dumps.blocks import MAX_ROW, ROW, ROW_TAG, Block, blocks, too_long
from arqkit.records import Problem


class DumpRow(NamedTuple):
    """A row of a dump: its number (from 1), its first line, its attributes."""

    number: int
    line: int
    fields: Mapping[str, str]


def rows(path: Path, kind: str, *, skip: int = 0) -> Iterator[DumpRow | Problem]:
    """Yield the rows of a file after the first `skip`, or a Problem for each malformed row.

    A truncated or damaged file, or one with a DOCTYPE, yields the rows before and then a Problem.
    Nothing is raised.
    """
    for block in blocks(path, kind):
        if not block.row_count or block.last > skip:
            yield from read_block(block, skip=skip)


def read_block(block: Block, *, skip: int = 0) -> Iterator[DumpRow | Problem]:
    """Yield the rows of a block with numbers above `skip`, and its problems."""
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
        if number <= skip:
            pass
        elif elements is not None:
            yield DumpRow(number, line, _fields(elements[place]))
        else:
            yield from _read_row(data[start:end], parser, number, line, block.source)
        line += data.count(b"\n", start, end)
    yield from block.problems


def _fields(row: etree._Element) -> dict[str, str]:
    return dict(row.items())  # type: ignore[arg-type]  # the stubs let both be bytes


def _parsed(data: bytes, parser: etree.XMLParser) -> etree._Element | str:
    """Return an element with the rows as its children, or the fault."""
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
        yield Problem(
            source,
            line,
            f"a malformed row ({parsed})",
            expected,
            "Correct the row, and import the file again.",
        )
        return
    yield DumpRow(number, line, _fields(parsed[0]))
    if following and tag:
        place = line + tag[0].count(b"\n")
        yield Problem(
            source,
            place,
            f"other text after a row ({following})",
            "the next row",
            "Remove the text.",
        )
