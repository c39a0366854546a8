"""A pool of processes that sanitize posts, the slowest step of an import, in file order."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import current_process, get_context

from arqkit.texts.html.dump_posts import ReadyBlock, Work, begin_worker, make_ready

LARGE = 16 * 2**20
"""The file size in bytes from which a pool pays off."""
MOST = 8
"""The maximum number of processes: the process that reads and stores cannot feed more."""


def process_count(size: int) -> int:
    """Return how many processes to start for a file of `size` bytes; 0 means no pool."""
    cores = len(os.sched_getaffinity(0))
    # A daemon process, such as a Celery worker, cannot have children.
    return min(cores, MOST) if size >= LARGE and cores > 1 and not current_process().daemon else 0


def ready_blocks(works: Iterable[Work], *, processes: int) -> Iterator[ReadyBlock]:
    """Yield sanitized blocks in order. A pool of processes works some blocks ahead."""
    if not processes:
        yield from map(make_ready, works)
        return
    # Spawn instead of fork: children must not inherit the database connection and threads.
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
