"""The scheduled tasks in a process beside the web process, in place of Celery beat and a worker."""

import logging
import os
import queue
import signal
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from multiprocessing import parent_process
from multiprocessing.connection import Connection

import django
from django.db import close_old_connections
from structlog.contextvars import bound_contextvars

from arqlab.celery import app, lane_of, let_pages_go_first

logger = logging.getLogger(__name__)


class Lane:
    """The tasks of one thread: some are due at intervals, and web processes ask for some."""

    def __init__(self, entries: Iterable[str]) -> None:
        self.asked: queue.SimpleQueue[tuple[str, tuple[object, ...], dict[str, str]]] = (
            queue.SimpleQueue()
        )
        self.due = dict.fromkeys(entries, time.monotonic())

    def run(self) -> None:
        """Run tasks for ever."""
        while True:
            self.step()

    def step(self) -> None:
        """Run what is due, and what is asked for until something is due again."""
        for name in self.due:
            entry = app.conf.beat_schedule[name]
            if time.monotonic() >= self.due[name]:
                _run(entry["task"])
                self.due[name] = time.monotonic() + entry["schedule"]
        next_due = min(self.due.values(), default=None)
        try:
            wait = None if next_due is None else max(0, next_due - time.monotonic())
            _run(*self.asked.get(timeout=wait))
        except queue.Empty:
            pass


def lanes() -> dict[str, Lane]:
    """Return the lane of each queue, with the entries of the schedule that it runs."""
    # Before the threads start: Celery cannot register tasks in two threads at once.
    app.loader.import_default_modules()
    app.finalize()
    entries: dict[str, list[str]] = {queue.name: [] for queue in app.conf.task_queues}
    for name, entry in app.conf.beat_schedule.items():
        entries[lane_of(entry["task"])].append(name)
    return {lane: Lane(names) for lane, names in entries.items()}


def run_background(requests: Connection) -> None:
    """Run the scheduled tasks, and those that are asked for, until the server ends.

    It is the main function of a process, which the server starts.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server, which gets it too, ends this process
    let_pages_go_first()
    threading.Thread(target=end_with_parent, name="parent", daemon=True).start()
    django.setup()
    running = lanes()
    for name, lane in running.items():
        threading.Thread(target=lane.run, name=name, daemon=True).start()
    with suppress(EOFError):  # the server has ended
        while True:
            message = requests.recv()
            running[lane_of(message[0])].asked.put(message)


def end_with_parent() -> None:
    """End this process as soon as the process that started it has ended, also if it was killed."""
    if parent := parent_process():
        parent.join()
        os._exit(1)


def _run(task: str, args: tuple[object, ...] = (), headers: dict[str, str] | None = None) -> None:
    close_old_connections()
    with bound_contextvars(**(headers or {})):
        try:
            # apply() instead of a plain call keeps the worker's limits and logging.
            app.tasks[task].apply(args, throw=True, headers=headers)
        except Exception:
            logger.exception("Scheduled task %s failed.", task)
        finally:
            close_old_connections()
