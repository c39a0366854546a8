"""ArqLab's server as a process of its own (`manage.py serve`), on the database of the tests, for
browser tests.

Each request holds a lock while it is answered, so a test can wait until the server has answered
everything.
"""

import fcntl
import os
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from django.db import connection
from django.http import HttpRequest, HttpResponse

from tests.paths import ROOT

LOCK = "requests.lock"
PATIENCE = 300
"""The seconds after which a server that has not answered will not start."""


class HoldsLock:
    """Middleware: share the lock with all requests while one is answered."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self.path = Path(os.environ["ARQLAB_DATA"]) / LOCK

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer a request, once nobody holds the lock alone."""
        with self.path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH)
            return self.get_response(request)


class Server:
    """A running server: its address, the folder of its files, and the lock that stops it."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url, self.folder = url, folder
        self.lock: BinaryIO = (folder / LOCK).open("rb")

    @property
    def log(self) -> Path:
        """Return the file of what the server says."""
        return self.folder / "log"

    def pause(self) -> None:
        """Wait until the server has answered everything; it answers nothing from then on."""
        fcntl.flock(self.lock, fcntl.LOCK_EX)

    def go_on(self) -> None:
        """Let the server answer again."""
        fcntl.flock(self.lock, fcntl.LOCK_UN)


def listening(command: Sequence[str], **options: Any) -> tuple[subprocess.Popen[Any], int]:
    """Start a server on a free port. Return its process and its port.

    Requests wait until the server answers or ends.
    """
    with socket.create_server(("127.0.0.1", 0)) as taken_over:
        return start_on(taken_over, command, **options), int(taken_over.getsockname()[1])


def start_on(
    taken_over: socket.socket, command: Sequence[str], **options: Any
) -> subprocess.Popen[Any]:
    """Start a server that takes over a listening socket, as the address `{bind}` in its command."""
    bind = f"fd://{taken_over.fileno()}"
    words = [word.replace("{bind}", bind) for word in command]
    return subprocess.Popen(words, cwd=ROOT, pass_fds=[taken_over.fileno()], **options)


def largest_script(folder: Path) -> bytes:
    """Return the path of the largest script below a folder."""
    path = max(folder.rglob("*.js"), key=lambda path: path.stat().st_size)
    return str(path.relative_to(folder)).encode()


@contextmanager
def running_server(folder: Path) -> Iterator[Server]:
    """Start the server on the database of this process, with its files and log below a folder."""
    (folder / LOCK).touch()
    with (folder / "log").open("wb") as log:
        command = [sys.executable, "manage.py", "serve", "--bind", "{bind}"]
        process, port = listening(command, env=environment(folder), stdout=log, stderr=log)
    server = Server(f"http://127.0.0.1:{port}", folder)
    try:
        urllib.request.urlopen(f"{server.url}/health/live", timeout=PATIENCE).close()
        yield server
    finally:
        server.lock.close()
        process.terminate()
        assert process.wait(timeout=60) == 0, server.log.read_text()


def environment(folder: Path) -> dict[str, str]:
    """Return the variables of the server's process."""
    known = connection.settings_dict
    name = (
        known["NAME"]
        if connection.vendor == "sqlite"
        else f"{known['USER']}@{known['HOST']}:{known['PORT']}"
    )
    url = (
        f"sqlite:///{name}"
        if connection.vendor == "sqlite"
        else f"postgresql://{name}/{known['NAME']}"
    )
    own = {
        "DATABASE_URL": url,
        "ARQLAB_DATA": str(folder),
        "DJANGO_SETTINGS_MODULE": "tests.served_settings",
        "ARQLAB_LOG_LEVEL": "WARNING",
    }
    return {key: value for key, value in os.environ.items() if key != "REDIS_URL"} | own
