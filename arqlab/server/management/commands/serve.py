"""`manage.py serve`: migrate the database and serve ArqLab."""

import logging
import os
import resource
import signal
import socket
import threading
import time
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from multiprocessing import Pipe, get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.conf import settings
from django.core.checks import Error, register
from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import connection, connections
from granian._granian import SocketHolder
from granian.constants import HTTPModes, Interfaces
from granian.log import LogLevels
from granian.server.mp import MPServer

from arqlab.accounts.hashing import PasswordHasher, Turns
from arqlab.asgi import Buffered
from arqlab.celery import send_to_background
from arqlab.core.selectors import largest_request
from arqlab.schedule import end_with_parent, run_background
from arqlab.web import static_files

logger = logging.getLogger(__name__)
CONNECTIONS = 4096
"""Connections of a web process, also those of slow clients; further ones wait."""
MIGRATING = 7_467_227
"""The number of the lock of PostgreSQL under which one server migrates."""
LAST_SECONDS = 20
"""Time of the requests in flight when the server stops."""


class Command(BaseCommand):
    """Migrate, then serve with granian.

    In embedded mode, a process beside the web process runs the scheduled tasks.
    """

    help = "Migrate the database and serve ArqLab."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the options for the address and the number of processes and threads."""
        parser.add_argument(
            "--bind",
            default="127.0.0.1:8000",
            help="Address and port, or fd://N for a socket that listens (default: %(default)s).",
        )
        parser.add_argument(
            "--workers",
            type=int,
            default=1 if settings.EMBEDDED else 2,
            help="Web processes (default: %(default)s); more than 1 need REDIS_URL.",
        )
        parser.add_argument(
            "--threads", type=int, default=8, help="Threads per web process (default: %(default)s)."
        )

    def get_check_kwargs(self, options: dict[str, Any]) -> Any:
        """Let the system checks refuse these options together with the settings."""
        register(partial(check_workers, options["workers"]))
        return super().get_check_kwargs(options)

    def execute(self, *args: object, **options: object) -> str | None:
        """Run the command with a folder, named before all imports, for the counts of requests."""
        with TemporaryDirectory(prefix="arqlab-metrics-") as folder:
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
            return super().execute(*args, **options)

    def handle(self, *, bind: str, workers: int, threads: int, **options: object) -> None:
        """Serve until a signal stops the process."""
        allow_connections()
        migrate_once()
        static_files.collect()
        connections.close_all()
        server = Server(listening_socket(bind), workers)
        background = Background() if settings.EMBEDDED and settings.HAS_SCHEDULE else None
        if background:
            server.on_startup(background.start)
            server.on_shutdown(background.stop)
        server.on_startup(lambda: self.print_ready(bind))
        messages = background.messages if background else None
        server.serve(target_loader=partial(load, threads, messages), wrap_loader=False)

    def print_ready(self, bind: str) -> None:
        """Print the address when the server is listening."""
        place = "a process beside it" if settings.EMBEDDED else "Celery workers"
        self.stdout.write(f"ArqLab is running at http://{bind}/ (tasks run in {place}).")
        self.stdout.flush()


def allow_connections() -> None:
    """Let processes open as many files as their connections need, or as the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = 2 * CONNECTIONS if hard == resource.RLIM_INFINITY else min(hard, 2 * CONNECTIONS)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, files), hard))


def migrate_once() -> None:
    """Migrate the database; servers that start at once wait for the first."""
    with alone():
        call_command("migrate", interactive=False, verbosity=0)


@contextmanager
def alone() -> Iterator[None]:
    """Let no other server of a PostgreSQL database into this block; SQLite has one server."""
    with connection.cursor() as cursor:
        # Who waits in the database has a snapshot, for whose end indexes wait that are created
        # concurrently.
        while connection.vendor == "postgresql":
            cursor.execute("SELECT pg_try_advisory_lock(%s)", [MIGRATING])
            if cursor.fetchone()[0]:
                break
            time.sleep(0.2)
    try:
        yield
    finally:
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [MIGRATING])


def check_workers(workers: int, app_configs: object, **_: object) -> list[Error]:
    """Return an error for several web processes in embedded mode: each would count requests."""
    if workers == 1 or not settings.EMBEDDED:
        return []
    return [
        Error(
            f"--workers is {workers}, but REDIS_URL is not set. Expected: 1 web process, because"
            " several need Redis to count the requests of a visitor.",
            hint="Leave out --workers, or set REDIS_URL and start a Celery worker and beat.",
            id="arqlab.workers",
        )
    ]


def listening_socket(bind: str) -> socket.socket:
    """Return the socket of `HOST:PORT`, or the one that `fd://N` names, as systemd passes it."""
    if bind.startswith("fd://"):
        return socket.socket(fileno=int(bind.removeprefix("fd://")))
    host, _, port = bind.rpartition(":")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host.strip("[]"), int(port)), family=family, backlog=CONNECTIONS)


class Server(MPServer):
    """Granian, whose processes share one listening socket: while one is replaced, others answer."""

    def __init__(self, listening: socket.socket, workers: int) -> None:
        host, port = listening.getsockname()[:2]
        super().__init__(
            "arqlab",
            address=host,
            port=port,
            interface=Interfaces.ASGINL,
            http=HTTPModes.http1,
            websockets=False,
            workers=workers,
            backpressure=CONNECTIONS,
            respawn_failed_workers=True,
            workers_kill_timeout=LAST_SECONDS,
            log_level=LogLevels.warning,
            log_dictconfig={"loggers": {"_granian": {"propagate": True}}, "handlers": {}},
        )
        self.listening = listening

    def _init_shared_socket(self) -> None:
        number, is_unix = self.listening.fileno(), self.listening.family == socket.AF_UNIX
        self._sso = None
        self._shd: Any = SocketHolder(number, is_unix, CONNECTIONS)  # type: ignore[call-arg]

    def _respawn_workers(
        self, workers: list[int], spawn_target: object, target_loader: object, delay: float = 0
    ) -> None:
        """Replace processes that died, however often they do."""
        super()._respawn_workers(workers, spawn_target, target_loader, delay)
        self.respawned_wrks.clear()


class Background:
    """Keeps the process running that does the scheduled tasks, and is asked for others."""

    def __init__(self) -> None:
        self._asked, self.messages = Pipe(duplex=False)
        # Without the lock, `_keep` could start a process after `stop` ended the last one.
        self._is_over, self._lock = False, threading.Lock()

    def start(self) -> None:
        """Start the process, and another one whenever it ends, until `stop`."""
        self._process = self._started()
        threading.Thread(target=self._keep, name="background", daemon=True).start()

    def _started(self) -> BaseProcess:
        # A fork would take over threads and connections of the server.
        process = get_context("spawn").Process(target=run_background, args=[self._asked])
        process.start()
        return process

    def _keep(self) -> None:
        while True:
            self._process.join()
            time.sleep(1)  # if it cannot start at all
            with self._lock:
                if self._is_over:
                    return
                logger.error("The background process ended. Another one is started.")
                self._process = self._started()

    def stop(self) -> None:
        """End the process; what it was doing waits in the database."""
        with self._lock:
            self._is_over = True
            self._process.terminate()
        self._process.join()


def load(threads: int, messages: Connection | None) -> Buffered:
    """Return the application in a web process, which ends when its parent is killed.

    Its threads share the places for forms with passwords and the turns to hash them, and send
    messages to the background process.
    """
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # until granian listens to it
    threading.Thread(target=end_with_parent, name="parent", daemon=True).start()
    PasswordHasher.turns = Turns(threads)
    if messages:
        send_to_background(messages)
    from arqlab.accounts.attempts import PasswordForms
    from arqlab.wsgi import application

    return Buffered(
        application,
        threads=threads,
        largest=largest_request(),
        folder=Path(settings.MEDIA_ROOT) / "incoming",
        queue=PasswordForms(threads),
    )
