"""Posts of a data dump, read, checked and sanitized for the database."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Any, NamedTuple

from arqkit.formats.dumps.blocks import Block, read_block
from arqkit.formats.dumps.records import PostRecord, Window, read_post
from arqkit.records import Problem
from arqkit.texts.html.sanitizer import RULES, clean_title_and_body

IN, LATER, OUT = "in", "later", "out"
"""Whether a post is within the collection's window, after it but kept, or outside."""


class FoundIn(NamedTuple):
    """The formulas of a title, question or answer: ids and LaTeX, each joined by NUL."""

    kind: str
    ids: str
    latex: str


class ReadyPost(NamedTuple):
    """A post ready to be stored, with its thread, its place in the window and its new formulas.

    `values` are those of its row by field, none outside the window. `found` is empty if all
    formulas came with ids: a formula index already lists them.
    """

    number: int
    line: int
    kind: str
    thread: int
    place: str
    values: dict[str, Any]
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


def make_ready(block: Block, window: Window, *, is_stored: bool = False) -> ReadyBlock:
    """Return the posts of a block, ready to be stored, in their order.

    `is_stored` marks a block of which only ids and formulas are read again.
    """
    posts, problems = list[ReadyPost](), list[Problem]()
    counts = Counter[str]()
    for row in read_block(block):
        if isinstance(row, Problem):
            problems.append(row)
            continue
        record, faults = read_post(row, block.source)
        problems += faults
        if record is not None:
            posts.append(_ready_post(record, row.line, _place(window, record.created_at), counts))
        elif not faults:
            counts["other_types"] += 1
    return ReadyBlock(block.last, block.share, is_stored, posts, problems, counts)


def _ready_post(record: PostRecord, line: int, place: str, counts: Counter[str]) -> ReadyPost:
    formulas = list[FoundIn]()
    values: dict[str, Any] = {}
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
        clean = {"clean_title": title.kept, "clean_body": body.kept, "rules": RULES}
        values = record._asdict() | clean
    return ReadyPost(
        int(record.post_id), line, record.kind, int(record.thread_id), place, values, formulas
    )


def _place(window: Window, moment: datetime | None) -> str:
    if window.searches(moment):
        return IN
    return LATER if window.keeps(moment) else OUT
