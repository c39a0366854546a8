"""ArqLab's server as a process of its own (`manage.py serve`), on the database of the tests, for
browser tests.

Each request holds a lock while it is answered, so a test can wait until the server has answered
everything.
"""

from __future__ import annotations

import fcntl
import os
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from django.db import connection
from django.http import HttpRequest, HttpResponse

from tests.paths import ROOT

LOCK = "requests.lock"


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


@contextmanager
def running_server(folder: Path) -> Iterator[Server]:
    """Start the server on the database of this process, with its files and its log below a folder."""
    (folder / LOCK).touch()
    # The server takes over a socket that listens already: no port is lost to others, and who asks
    # early waits.
    with socket.create_server(("127.0.0.1", 0)) as listening, (folder / "log").open("wb") as log:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        command = [sys.executable, "manage.py", "serve", "--bind", f"fd://{listening.fileno()}"]
        options: dict[str, Any] = {
            "cwd": ROOT,
            "env": environment(folder),
            "stdout": log,
            "stderr": log,
        }
        process = subprocess.Popen(command, pass_fds=[listening.fileno()], **options)
    server = Server(url, folder)
    try:
        urllib.request.urlopen(f"{url}/healthz/").close()
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
    }
    own |= {"ARQLAB_SECRET_KEY": "only for tests", "ARQLAB_LOG_LEVEL": "WARNING"}
    return {key: value for key, value in os.environ.items() if key != "REDIS_URL"} | own
