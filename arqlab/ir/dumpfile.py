"""The files of a dump, row by row (stand-in until the whole reader joins)."""

import gzip
from collections.abc import Iterator, Mapping
from io import BufferedIOBase
from pathlib import Path
from typing import NamedTuple

from lxml import etree

from arqlab.ir.records import Problem


class DumpRow(NamedTuple):
    """A row of a dump's file: its number from 1, its line, its attributes."""

    number: int
    line: int
    fields: Mapping[str, str]


def rows(path: Path, kind: str, *, skip: int = 0) -> Iterator[DumpRow | Problem]:
    """Give the rows after the first `skip`; a cut file ends with a Problem."""
    with _opened(path) as file:
        number = 0
        try:
            for _, row in etree.iterparse(file, tag="row", resolve_entities=False, no_network=True):
                number += 1
                if number > skip:
                    yield DumpRow(number, row.sourceline or 1, dict(row.attrib))
                row.clear()
        except etree.XMLSyntaxError as error:
            yield Problem(path.name, error.lineno, f"{kind} cut short", "the whole file", "Give the whole file.")


def _opened(path: Path) -> BufferedIOBase:
    return gzip.open(path) if path.suffix == ".gz" else path.open("rb")
