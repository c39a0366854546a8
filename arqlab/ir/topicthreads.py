"""Which question post a topic was made of, as the index of the topics' formulas tells (column thread_id).

The column topic_id names the topics of Task 1; a topic of Task 2 with the same number shares the post (protocol §3).
"""

import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterable, Mapping

from arqlab.ir.records import FileRefusedError, Problem
from arqlab.ir.sourcetext import source_text

LONGEST_THREAD_ID = 40
_COLUMNS = ("topic_id", "thread_id")


def read_topic_threads(data: bytes, *, path: str) -> dict[str, str]:
    """Read an index of topic formulas (TSV, plain or gzipped) into {topic: thread}.

    Raises FileRefusedError with every problem: no such columns, a topic with two threads, a file that cannot be read.
    """
    rows = _rows(data, path)
    header = [name.strip().lower() for name in rows[0][1]]
    if lacking := [name for name in _COLUMNS if name not in header]:
        found, expected = f"the columns {', '.join(header)[:80]}", f"also {', '.join(lacking)}"
        raise FileRefusedError([Problem(path, 1, found, expected, "Name the columns in the first line.")])
    topic_at, thread_at = (header.index(name) for name in _COLUMNS)
    threads: dict[str, str] = {}
    problems: list[Problem] = []
    for line, cells in rows[1:]:
        topic, thread = _cell(cells, topic_at), _cell(cells, thread_at)
        if len(thread) > LONGEST_THREAD_ID:
            found, expected = f"the thread {thread[:80]!r}", f"at most {LONGEST_THREAD_ID} characters"
            problems.append(Problem(path, line, found, expected, "Give the id of the question post."))
        elif topic and thread and threads.setdefault(topic, thread) != thread:
            found = f"the thread {thread} of the topic {topic}, which had {threads[topic]}"
            problems.append(Problem(path, line, found, "one thread a topic", "Correct one of the two."))
    if problems:
        raise FileRefusedError(problems)
    return threads


def threads_of(query_ids: Iterable[str], threads: Mapping[str, str]) -> dict[str, str]:
    """Give the threads of topics: of their own, else of the topic with the same number (A.9 for B.9)."""
    by_number = {_number(topic): thread for topic, thread in threads.items()}
    found = {topic: threads.get(topic) or by_number.get(_number(topic)) for topic in query_ids}
    return {topic: thread for topic, thread in found.items() if thread}


def _number(query_id: str) -> str:
    return re.sub(r"^[A-Za-z]+\.(?=[0-9])", "", query_id)


def _cell(cells: list[str], at: int) -> str:
    return cells[at].strip() if at < len(cells) else ""


def _rows(data: bytes, path: str) -> list[tuple[int, list[str]]]:
    """Give the rows with the lines that they end in."""
    if data.startswith(b"\x1f\x8b"):
        try:
            data = gzip.decompress(data)
        except (EOFError, OSError, zlib.error) as error:
            raise FileRefusedError([Problem(path, None, str(error), "a whole gzip file", "Pack it anew.")]) from error
    reader = csv.reader(io.StringIO(source_text(data, path=path), newline=""), delimiter="\t")
    try:
        return [(reader.line_num, cells) for cells in reader if cells]
    except csv.Error as error:
        found, todo = f"a broken TSV ({error})", "Correct the line."
        raise FileRefusedError([Problem(path, reader.line_num, found, "cells between tabs", todo)]) from error
