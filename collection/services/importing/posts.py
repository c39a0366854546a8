"""Posts.xml into rows (stand-in until the whole module joins)."""

from __future__ import annotations

import hashlib
from datetime import datetime
from itertools import islice
from pathlib import Path

from lxml import etree

from arqlab.ir.collectionfile import read_posts
from arqlab.ir.dumprecords import Window
from arqlab.ir.records import FileRefusedError, Problem
from collection.models import Collection, Import, Post
from collection.services.importing.records import Progress, finish_import, save_progress, start_import


def import_posts(
    *, collection: Collection, path: Path, window: Window, at: datetime, progress: Progress | None = None
) -> Import:
    """Take the posts of a file in."""
    sha256 = hashlib.sha256(path.read_bytes() + repr(window).encode()).hexdigest()
    record = start_import(collection=collection, kind="posts", source=path.name, sha256=sha256, at=at)
    if record.state == Import.State.DONE:
        return record
    problems: list[Problem] = []
    rows = read_posts(path)
    seen: set[str] = set()
    try:
        while batch := list(islice(rows, 500)):
            fresh = []
            for row in batch:
                if not row.post_id or row.post_id in seen:
                    problems.append(Problem(path.name, 1, f"the post {row.post_id} again", "each once", "Keep one."))
                    continue
                seen.add(row.post_id)
                fresh.append(row)
            Post.objects.bulk_create(
                Post(
                    collection=collection,
                    post_id=row.post_id,
                    kind=row.kind,
                    thread_id=row.thread_id,
                    title=row.title,
                    body=row.body,
                    tags=list(row.tags),
                    rules=0,
                )
                for row in fresh
            )
            record.rows += len(batch)
            record.kept += len(fresh)
    except (FileRefusedError, etree.XMLSyntaxError, EOFError, OSError) as error:
        problems.append(Problem(path.name, None, str(error), "well-formed XML", "Give the whole file."))
    save_progress(record=record, problems=problems, at=at)
    finish_import(record=record, at=at)
    return record
