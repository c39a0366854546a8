"""The rows of a dump's XML (protocol §2), read as a stream: memory is the same for every size of
file.

Each block of rows is parsed by itself. So a row that is not well-formed costs only itself, lines
are counted right however many there are, and blocks can be parsed in several processes. No DOCTYPE
is accepted: there is no entity to resolve.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from lxml import etree

from arqlab.formats.dumps.blocks import MAX_ROW, ROW, ROW_TAG, Block, blocks, too_long
from arqlab.formats.dumps.sources import DUMP_FILES, dump_files, kind_of
from arqlab.ir.records import Problem

__all__ = [
    "DUMP_FILES",
    "MAX_ROW",
    "Block",
    "DumpRow",
    "blocks",
    "dump_files",
    "kind_of",
    "read_block",
    "rows",
]


class DumpRow(NamedTuple):
    """A row of a dump's file: its number from 1, the line that it begins on, its attributes."""

    number: int
    line: int
    fields: Mapping[str, str]


def rows(path: Path, kind: str, *, skip: int = 0) -> Iterator[DumpRow | Problem]:
    """Return the rows of a kind's file after the first `skip`, and a Problem for each that is not
    well-formed.

    A file that is cut short, damaged or has a DOCTYPE gives the rows before, then a Problem.
    Nothing is raised.
    """
    for block in blocks(path, kind):
        if not block.row_count or block.last > skip:
            yield from read_block(block, skip=skip)


def read_block(block: Block, *, skip: int = 0) -> Iterator[DumpRow | Problem]:
    """Return the rows of a block, but for those numbered up to `skip`, and the problems in it."""
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
    """Return an element with the rows as its children, or what is wrong."""
    try:
        return etree.fromstring(b"<rows>" + data + b"</rows>", parser)
    except etree.XMLSyntaxError as error:
        return re.sub(r", line \d.*", "", error.msg or "not well-formed")


def _read_row(
    data: bytes, parser: etree.XMLParser, number: int, line: int, source: str
) -> Iterator[DumpRow | Problem]:
    """Read one row by itself; where only what follows it is broken, it is in all the same."""
    if len(data) > MAX_ROW:
        yield too_long(source, line)
        return
    found: etree._Element | str = _parsed(data, parser)
    following = ""
    tag = ROW_TAG.match(data)
    if isinstance(found, str) and tag and tag[0].endswith(b"/>"):
        following = found
        found = _parsed(tag[0], parser)
    if isinstance(found, str):
        expected = "well-formed XML: values in quotes, and <, & and quotes in them escaped"
        yield Problem(
            source,
            line,
            f"a row with a fault ({found})",
            expected,
            "Correct the row and import again.",
        )
        return
    yield DumpRow(number, line, _fields(found[0]))
    if following and tag:
        place = line + tag[0].count(b"\n")
        yield Problem(
            source,
            place,
            f"other text after a row ({following})",
            "the next row",
            "Take the text out.",
        )
