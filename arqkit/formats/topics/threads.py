"""Read the question post of each topic from the index of topic formulas (column thread_id).

The index has the topics of Task 1. A topic of Task 2 shares the post of the topic with the same
number (protocol §3).
"""

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from arqkit.formats.archives.compressed import DamagedFileError, read_pieces
from arqkit.formats.file_kinds import HEAD, FileKind, require_kind
from arqkit.formats.formulas.index import read_index
from arqkit.records import FileRefusedError, Problem


def read_topic_threads(path: Path) -> dict[str, str]:
    """Return {topic: thread} from an index of topic formulas (TSV, plain or compressed).

    Raise FileRefusedError with every problem: those of `read_index`, and topics with two threads.
    """
    with suppress(DamagedFileError):  # the index reports it
        require_kind(next(read_pieces(path, size=HEAD), b""), FileKind.FORMULAS, path=path.name)
    threads: dict[str, str] = {}
    problems: list[Problem] = []
    for part in read_index(path):
        problems += part.problems
        for topic, thread in (
            part.frame.select("post_id", "thread_id")
            .drop_nulls()
            .unique(maintain_order=True)
            .rows()
        ):
            if threads.setdefault(topic, thread) != thread:
                actual = f"the threads {threads[topic]} and {thread} of the topic {topic}"
                problems.append(
                    Problem(
                        path.name, None, actual, "one thread per topic", "Correct one of the two."
                    )
                )
    if problems:
        raise FileRefusedError(problems)
    return threads


def threads_of(query_ids: Iterable[str], threads: Mapping[str, str]) -> dict[str, str]:
    """Return the thread of each topic, or of the topic with the same number (A.9 for B.9)."""
    by_number = {_number(topic): thread for topic, thread in threads.items()}
    by_topic = {topic: threads.get(topic) or by_number.get(_number(topic)) for topic in query_ids}
    return {topic: thread for topic, thread in by_topic.items() if thread}


def _number(query_id: str) -> str:
    return re.sub(r"^[A-Za-z]+\.(?=[0-9])", "", query_id)
