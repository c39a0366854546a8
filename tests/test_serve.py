"""`manage.py serve` in embedded mode, as a separate process."""

import os
import select
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.databases import copy_embedded
from tests.served import largest_script, listening
from tests.served_lab import ask, first_score, form_with_a_run, load_small_lab, sign_in

EMBEDDED = {
    name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "REDIS_URL"}
}


@contextmanager
def serving(folder: Path, **variables: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Serve a folder in embedded mode; yield the process and its port. It is to end well.

    Its database is migrated before, which takes longer than all else that a test does. As on many
    systems, the process may open few files unless it asks for more.
    """
    copy_embedded(folder)
    environment = environment_of(folder) | variables
    command = [sys.executable, "manage.py", "serve", "--bind", "{bind}", "--threads", str(THREADS)]
    limited = ["sh", "-c", f'ulimit -S -n {FILES}; exec "$@"', "sh", *command]
    server, port = listening(limited, env=environment, stderr=subprocess.PIPE, text=True)
    try:
        yield server, port
        if server.poll() is None:
            server.terminate()
            assert server.wait() == 0
    finally:
        server.kill()
        server.communicate()


def environment_of(folder: Path) -> dict[str, str]:
    """Return the variables of a server with its data in a folder."""
    return EMBEDDED | {"ARQLAB_DATA": str(folder), "DJANGO_SETTINGS_MODULE": "arqlab.settings"}


THREADS, FILES = 2, 96
HOST = b" HTTP/1.1\r\nHost: localhost\r\n"
SLOW = {
    "sends a header": b"GET /" + HOST + b"X-Slow: ",
    "sends a form": b"POST /accounts/login/" + HOST + b"Content-Length: 1000\r\n\r\nlogin=",
    "reads a file": b"GET /static/%s" + HOST + b"\r\n",
}


def slow_client(port: int, request: bytes) -> socket.socket:
    """Connect, send a request or its beginning, and return the connection, which then rests."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
    client.connect(("127.0.0.1", port))
    client.sendall(request)
    return client


def test_slow_clients_do_not_keep_others_from_their_pages(tmp_path: Path) -> None:
    with serving(tmp_path) as (_, port), ExitStack() as stack:
        ask(port, "/health/live")  # it has collected its static files
        large = largest_script(tmp_path / "static")
        for request in SLOW.values():
            for _ in range(FILES // len(SLOW)):
                stack.enter_context(slow_client(port, request.replace(b"%s", large)))
        # They send and read nothing more until the page is there.
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/accounts/login/", timeout=60) as page:
            assert page.status == 200


def children(process: int) -> list[int]:
    """Return the processes that a process started."""
    found = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="utf-8")
    return [int(child) for child in found.split()]


def kill(process: int) -> None:
    """Kill a process and wait until it has ended."""
    end = os.pidfd_open(process)
    os.kill(process, signal.SIGKILL)
    select.select([end], [], [])


def test_killed_processes_are_replaced_and_none_outlives_its_server(tmp_path: Path) -> None:
    with serving(tmp_path) as (server, port):
        for _ in range(2):
            ask(port, "/health/live")
            for child in children(server.pid):
                kill(child)
        ask(port, "/health/live")
        load_small_lab(tmp_path, environment_of(tmp_path))
        ask(port, "/api/v1/labs/small/tasks/task1/runs/", form_with_a_run())
        assert first_score(port, server) == pytest.approx(1.0)
        ends = [os.pidfd_open(child) for child in children(server.pid)]
        server.kill()
        server.wait()
        for end in ends:
            select.select([end], [], [])


def test_a_request_in_flight_is_answered_before_the_server_ends(tmp_path: Path) -> None:
    head = b"POST /accounts/login/" + HOST + b"Expect: 100-continue\r\nContent-Length: 7\r\n\r\n"
    with (
        serving(tmp_path) as (server, port),
        socket.create_connection(("127.0.0.1", port)) as client,
    ):
        client.sendall(head)
        assert client.recv(1000).startswith(b"HTTP/1.1 100")
        server.terminate()
        client.sendall(b"login=a")
        assert client.recv(1000).startswith(b"HTTP/1.1 403")


@pytest.mark.parametrize("state", ["down", "hanging"])
def test_uploads_and_sign_in_need_no_redis(tmp_path: Path, state: str) -> None:
    load_small_lab(tmp_path, environment_of(tmp_path))
    with socket.create_server(("127.0.0.1", 0)) as redis:  # takes connections and never answers
        address = f"redis://127.0.0.1:{redis.getsockname()[1]}/0"
        if state == "down":
            redis.close()
        with serving(tmp_path, REDIS_URL=address) as (_, port):
            runs = "/api/v1/labs/small/tasks/task1/runs/"
            [sent] = ask(port, runs, form_with_a_run())
            assert [run["id"] for run in ask(port, runs)["results"]] == [sent["id"]]
            assert sign_in(port) == "/"
