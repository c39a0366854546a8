"""The files of a dump, row by row (stand-in until the whole reader joins)."""

import gzip
from collections.abc import Iterator, Mapping
from io import BufferedIOBase
from pathlib import Path
from typing import Final, NamedTuple

from lxml import etree

from arqlab.ir.records import Problem

DUMP_FILES: Final[Mapping[str, str]] = {
    "posts": "Posts.xml",
    "comments": "Comments.xml",
    "post_links": "PostLinks.xml",
    "tags": "Tags.xml",
    "users": "Users.xml",
    "votes": "Votes.xml",
    "badges": "Badges.xml",
}


def dump_files(path: Path) -> dict[str, Path]:
    """Give the files of a folder by kind; of an archive that holds several, the archive for every kind."""
    if not path.is_dir():
        return dict.fromkeys(DUMP_FILES, path)
    there = {file.name.lower(): file for file in sorted(path.iterdir())}
    endings = ("", ".gz", ".bz2", ".7z")
    return {
        kind: there[name.lower() + ending]
        for kind, name in DUMP_FILES.items()
        for ending in endings
        if name.lower() + ending in there
    }


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
