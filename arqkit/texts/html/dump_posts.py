"""Posts of a data dump, read, checked and sanitized for the database.

This module does not need Django: worker processes use it.
"""

import gc
import json
import os
import signal
import threading
from collections import Counter
from multiprocessing import parent_process
from typing import Any, NamedTuple

from arqkit.formats.dumps.blocks import Block, read_block
from arqkit.formats.dumps.records import PostRecord, Window, read_post
from arqkit.records import Problem
from arqkit.texts.html.sanitizer import RULES, clean_title_and_body

FIELDS = (*PostRecord._fields[:5], "clean_title", "clean_body", "rules", *PostRecord._fields[5:])
"""The names of a post's stored values, in order."""
_TAGS = json.JSONEncoder(ensure_ascii=False)
IN, LATER, OUT = "in", "later", "out"
"""Whether a post is within the collection's window, after it but kept, or outside."""


class Work(NamedTuple):
    """A block of a data dump to process.

    Posts of a block that is already stored yield only their ids and formulas. With `as_copy`,
    values are lines in the text format of PostgreSQL's COPY instead of tuples.
    """

    block: Block
    window: Window
    is_stored: bool = False
    as_copy: bool = False


class FoundIn(NamedTuple):
    """The formulas of a title, question or answer: ids and LaTeX, each joined by NUL.

    Two strings pass between processes at a fraction of the cost of a list.
    """

    kind: str
    ids: str
    latex: str


class ReadyPost(NamedTuple):
    """A post ready to be stored, with its thread, its place in the window and its new formulas.

    `found` is empty if all formulas came with ids: a formula index already lists them.
    """

    number: int
    line: int
    kind: str
    thread: int
    place: str
    values: object
    found: list[FoundIn]


class ReadyBlock(NamedTuple):
    """The posts of a block, the problems of its rows, and counts.

    `last` and `share` are the progress in the file, in rows and as a fraction.
    """

    last: int
    share: float
    is_stored: bool
    posts: list[ReadyPost]
    problems: list[Problem]
    counts: Counter[str]


def make_ready(work: Work) -> ReadyBlock:
    """Return the posts of a block, ready to be stored, in their order."""
    block, posts, problems = work.block, list[ReadyPost](), list[Problem]()
    counts = Counter[str]()
    for row in read_block(block):
        if isinstance(row, Problem):
            problems.append(row)
            continue
        record, faults = read_post(row, block.source)
        problems += faults
        if record is not None:
            posts.append(_ready_post(work, record, row.line, counts))
        elif not faults:
            counts["other_types"] += 1
    return ReadyBlock(block.last, block.share, work.is_stored, posts, problems, counts)


def _ready_post(work: Work, record: PostRecord, line: int, counts: Counter[str]) -> ReadyPost:
    window, moment, formulas = work.window, record.created_at, list[FoundIn]()
    values: object = None
    place = IN if window.searches(moment) else LATER if window.keeps(moment) else OUT
    if place != OUT:
        title, body = clean_title_and_body(record.title, record.body, post_id=record.post_id)
        counts["formulas"] += title.formula_count + body.formula_count
        counts["formulas_numbered"] += title.numbered + body.numbered
        if title.numbered or body.numbered:
            formulas = [
                FoundIn(kind, "\0".join(text.ids), "\0".join(text.latex))
                for kind, text in (("title", title), (record.kind, body))
                if text.ids
            ]
        if not work.is_stored:
            values = (*record[:5], title.kept, body.kept, RULES, *record[5:])
            values = _copy_line(values) if work.as_copy else values
    return ReadyPost(
        int(record.post_id), line, record.kind, int(record.thread_id), place, values, formulas
    )


def _copy_line(values: tuple[Any, ...]) -> bytes:
    """Return the values as a line for COPY: separated by tabs, with special characters escaped."""
    post_id, kind, thread_id, title, body, clean_title, clean_body, rules, tags, *rest = values
    texts = (_text(title), _text(body), _null(clean_title), _null(clean_body))
    listed = _text(_TAGS.encode(tags)) if tags else "[]"
    score, views, accepted_id, author_id, author_name, moment = rest
    cells = (
        *(post_id, kind, thread_id, *texts, str(rules), listed),
        *("\\N" if number is None else str(number) for number in (score, views)),
        *(accepted_id, author_id, _text(author_name)),
        "\\N" if moment is None else moment.isoformat(),
    )
    return "\t".join(cells).encode() + b"\n"


def _null(text: str | None) -> str:
    return "\\N" if text is None else _text(text)


def _text(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")


def begin_worker() -> None:
    """Prepare a worker process: ignore Ctrl-C, and exit if the parent process is killed."""
    # Posts contain no reference cycles; searching for them takes a tenth of the time.
    gc.disable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    # A parent that is killed cannot end its workers, which would go on for hours.
    if parent := parent_process():
        parent.join()
        os._exit(1)
