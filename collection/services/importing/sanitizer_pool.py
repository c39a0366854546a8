"""Posts made ready in processes of their own, as sanitizing costs more than all else; the order is
the file's.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import current_process, get_context

from arqlab.texts.html.dump_posts import ReadyBlock, Work, begin_worker, make_ready

LARGE = 16 * 2**20
"""Bytes of a file from which on processes are worth their start."""
MOST = 8
"""Processes at most: one that reads and stores keeps up with no more."""


def process_count(size: int) -> int:
    """Return how many processes to start for a file of so many bytes; 0 where this one does it all."""
    cores = len(os.sched_getaffinity(0))
    # A process of a task queue may have no children.
    return min(cores, MOST) if size >= LARGE and cores > 1 and not current_process().daemon else 0


def ready_blocks(works: Iterable[Work], *, processes: int) -> Iterator[ReadyBlock]:
    """Make block after block ready; with processes, some ahead of what is asked for."""
    if not processes:
        yield from map(make_ready, works)
        return
    # Not forked: the database connection and the threads of this process are not theirs.
    pool = ProcessPoolExecutor(processes, mp_context=get_context("spawn"), initializer=begin_worker)
    ahead: deque[Future[ReadyBlock]] = deque()
    try:
        for work in works:
            ahead.append(pool.submit(make_ready, work))
            if len(ahead) > 2 * processes + 2:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)
