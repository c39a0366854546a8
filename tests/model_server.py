"""A small server with the completions of an OpenAI-compatible API, which misbehaves on request."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any


class ModelServer(ThreadingHTTPServer):
    """Sends the next of `replies`, or a short completion. `asked` has the requests.

    A reply is the text of a completion, a status with headers and a body, seconds of silence, or
    None: the connection is closed.
    """

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self.replies: list[Any] = []
        self.is_over = Event()

    @property
    def url(self) -> str:
        """Return the address of the API."""
        return f"http://127.0.0.1:{self.server_port}/v1"

    @property
    def prompts(self) -> list[str]:
        """Return the prompts so far."""
        return [body["prompt"] for _, _, body in self.asked]


class _Handler(BaseHTTPRequestHandler):
    server: ModelServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, dict(self.headers), body))
        reply = self.server.replies.pop(0) if self.server.replies else " An answer."
        if isinstance(reply, str):
            reply = 200, {}, json.dumps({"choices": [{"text": reply, "index": 0}]}).encode()
        if isinstance(reply, float):
            self.server.is_over.wait(reply)
        elif reply is not None:
            self.reply(*reply)

    def reply(self, status: int, headers: dict[str, str], data: bytes) -> None:
        self.send_response(status)
        for name, value in ({"Content-Length": str(len(data))} | headers).items():
            self.send_header(name, value)
        self.end_headers()
        for byte in [data] if "Slowly" not in headers else [data[:1], *[b" "] * 100]:
            self.wfile.write(byte)
            if "Slowly" in headers and self.server.is_over.wait(0.02):
                break

    def log_message(self, *args: object) -> None:
        """Write nothing."""


@contextmanager
def model_server() -> Iterator[ModelServer]:
    """Yield a server that runs in a thread."""
    with ModelServer() as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.is_over.set()
            server.shutdown()
            thread.join()
