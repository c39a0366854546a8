"""What happens to a job at one of its statements, in place of chance."""

import os
import signal
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType
from typing import Any

import psycopg2
from django.conf import settings
from django.db import connection
from django.utils import timezone

from arqlab.core.models import reading
from arqlab.jobs.services import jobs
from arqlab.jobs.services.jobs import run_waiting_job
from collection.selectors import candidates
from collection.services import parquet_files
from collection.services.importing import formulas
from desk.services import archive_tables
from tests.installed import optional

Disturb = Callable[[int], object]
SMALL: list[tuple[ModuleType, str, float]] = [
    (jobs, "BETWEEN_UPDATES", 0),
    (reading, "CHUNK", 1),
    (candidates, "BATCH", 1),
    (parquet_files, "PART", 2),
    (formulas, "COMMENTS", 2),
    (archive_tables, "BATCH", 2),
    *(size for sizes in optional("jobs", "SMALL") for size in sizes),
]
"""Sizes of chunks, so that small jobs read several, and the seconds between two updates."""


@contextmanager
def before_each_statement(disturb: Disturb, *, in_transactions: bool = False) -> Iterator[None]:
    """Call `disturb` with the number of each statement of this connection, before it.

    Those within transactions are left out unless asked: on SQLite, nobody else can write then.
    """
    numbers = iter(range(1, 1_000_000))

    def execute(run: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        if in_transactions or not connection.in_atomic_block:
            disturb(next(numbers))
        return run(sql, params, many, context)

    with connection.execute_wrapper(execute):
        yield


@contextmanager
def another_connection() -> Iterator[Callable[[Callable[[], object]], Any]]:
    """Yield what runs a function in another thread, with its own connection, to its end."""
    with ThreadPoolExecutor(1) as thread:
        yield lambda function: thread.submit(function).result()
        thread.submit(lambda: connection.close()).result()  # that of the thread


def counted(job_id: int) -> tuple[int, int]:
    """Run a job, and return how many statements it took: outside of transactions, and all."""
    outside, every = [0], [0]

    def count(_: int) -> None:
        every[0] += 1
        outside[0] += not connection.in_atomic_block

    with before_each_statement(count, in_transactions=True):
        run_waiting_job(job_id=job_id, at=timezone.now())
    return outside[0], every[0]


def killed(job_id: int, statement: int) -> bool:
    """Run a job in a process that is killed before a statement; return whether it was."""
    context = get_context("forkserver")
    context.set_forkserver_preload(["tests.jobs.ready", "tests.jobs.disturbing"])
    names = {
        "database": str(connection.settings_dict["NAME"]),
        "media": str(settings.MEDIA_ROOT),
        "data": str(settings.DATA_DIR),
    }
    process = context.Process(target=_work_until, args=(names, job_id, statement))
    process.start()
    process.join()
    return process.exitcode == -signal.SIGKILL


def _work_until(names: Mapping[str, str], job_id: int, statement: int) -> None:
    """Run a job on the database and the folders of a test; die before its nth statement."""
    connection.settings_dict["NAME"] = names["database"]
    settings.MEDIA_ROOT, settings.DATA_DIR = names["media"], Path(names["data"])
    backend = "arqlab.core.files.DurableStorage"
    settings.STORAGES = settings.STORAGES | {"default": {"BACKEND": backend}}
    for module, name, size in SMALL:
        setattr(module, name, size)

    def die(number: int) -> None:
        if number == statement:
            os.kill(os.getpid(), signal.SIGKILL)

    with before_each_statement(die, in_transactions=True):
        run_waiting_job(job_id=job_id, at=timezone.now())


@contextmanager
def locked() -> Iterator[None]:
    """Let another process hold the lock of SQLite; on PostgreSQL, the server ends the connection of
    this thread, as when it is restarted.
    """
    if connection.vendor == "postgresql":
        url = settings.DATABASES["default"] | {"NAME": connection.settings_dict["NAME"]}
        names = {"NAME": "dbname", "HOST": "host", "PORT": "port", "USER": "user"}
        words = {word: url[name] for name, word in names.items() if url[name]}
        with closing(psycopg2.connect(**words, password=url["PASSWORD"] or None)) as other:
            pid = connection.connection.info.backend_pid
            other.cursor().execute("SELECT pg_terminate_backend(%s)", [pid])
            yield
        return
    with ExitStack() as stack:
        other = stack.enter_context(closing(sqlite3.connect(connection.settings_dict["NAME"])))
        other.isolation_level = None
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")
