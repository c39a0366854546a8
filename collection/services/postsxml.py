"""The texts of `Posts.xml`, read as a stream."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from lxml import etree

KINDS = {"1": "question", "2": "answer"}


class PostRow(NamedTuple):
    """A question or an answer as the file has it; title and body are HTML."""

    post_id: str
    kind: str
    thread_id: str
    title: str
    body: str
    tags: tuple[str, ...]


def posts_of(path: Path) -> Iterator[PostRow]:
    """Read the posts of a file, plain or gzipped, that `arqlab.ir.collectionfile.posts_frame` has accepted."""
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        for _, row in etree.iterparse(file, tag="row", resolve_entities=False, no_network=True, load_dtd=False):
            if kind := KINDS.get(row.get("PostTypeId", "")):
                yield _post(row, kind)
            # Nothing of a row that was read stays in memory: the whole collection has 2.5 million of them.
            row.clear()
            while row.getprevious() is not None:
                del row.getparent()[0]


def _post(row: etree._Element, kind: str) -> PostRow:
    post_id = row.get("Id", "")
    return PostRow(
        post_id=post_id,
        kind=kind,
        thread_id=post_id if kind == "question" else row.get("ParentId", ""),
        title=row.get("Title", ""),
        body=row.get("Body", ""),
        # "<algebra><limits>" in the editions' dumps, "|algebra|limits|" in newer ones.
        tags=tuple(re.findall(r"[^<>|]+", row.get("Tags", ""))),
    )
