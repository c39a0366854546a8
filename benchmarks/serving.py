"""Pages are answered as fast behind slow clients as alone.

`manage.py serve` runs on SQLite with eight threads, as one command starts it. The slow clients send
half a header, send half a form, or do not read a download; the last two stop a server whose threads
wait for their clients.
"""

import socket
import statistics
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from http.client import HTTPConnection
from pathlib import Path

from benchmarks.common import Benchmark, environment, serving, start
from tests.everywhere import free_port
from tests.served import largest_script

CLIENTS, SLOW_CLIENTS, LEAST = 4, 96, 0.85
HOST = b" HTTP/1.1\r\nHost: localhost\r\n"
SLOW = (
    b"GET /" + HOST + b"X-Slow: ",
    b"POST /accounts/login/" + HOST + b"Content-Length: 1000\r\n\r\nlogin=",
    b"GET /static/%s" + HOST + b"\r\n",
)


def main(bench: Benchmark) -> None:
    """Measure pages per second alone and behind slow clients."""
    pages = bench.sized(400, 8)
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        command = ["manage.py", "serve", "--bind", f"127.0.0.1:{port}"]
        with serving(command, port, environment(Path(folder))):
            rate(port, CLIENTS)
            download = largest_script(Path(folder, "static"))
            sides = {
                "alone": lambda: rate(port, pages),
                "behind": lambda: behind_slow_clients(port, pages, download),
            }
            rates = bench.alternate(sides)
    alone, behind = (statistics.median(rates[side]) for side in ("alone", "behind"))
    print(f"alone {alone:.0f}, behind slow clients {behind:.0f} pages per second")
    bench.ratio(f"behind {SLOW_CLIENTS} slow clients", behind / alone, at_least=LEAST)


def rate(port: int, pages: int) -> float:
    """Return how many pages some clients get in a second."""

    def read(count: int) -> None:
        connection = HTTPConnection("127.0.0.1", port, timeout=60)
        for _ in range(count):
            connection.request("GET", "/", headers={"Host": "localhost"})
            response = connection.getresponse()
            response.read()
            assert response.status == 200
        connection.close()

    began = time.perf_counter()
    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(read, [pages // CLIENTS] * CLIENTS))
    return pages / (time.perf_counter() - began)


def behind_slow_clients(port: int, pages: int, download: bytes) -> float:
    """Return the rate while slow clients hold their connections."""
    with ExitStack() as stack:
        for number in range(SLOW_CLIENTS):
            client = stack.enter_context(socket.socket())
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
            client.connect(("127.0.0.1", port))
            client.sendall(SLOW[number % len(SLOW)].replace(b"%s", download))
        return rate(port, pages)


if __name__ == "__main__":
    start(main)
