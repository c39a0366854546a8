"""The application for servers: an event loop receives requests and sends responses, and threads
compute between the two, so that slow clients hold connections and no thread.
"""

import asyncio
import io
import sys
from collections.abc import Awaitable, Callable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import SpooledTemporaryFile
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import unquote_to_bytes
from wsgiref.types import WSGIApplication, WSGIEnvironment

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

PATIENCE = 60
"""Seconds in which a request arrives and in which a client takes each part of a response."""
SLOWEST = 1_000
"""Bytes per second that a request needs to arrive in time if it is longer than that."""
PART = 2**16
IN_MEMORY = 4 * PART
"""Bytes of a request or a response above which it is on the disk until it is read or sent."""


class WaitingLine(Protocol):
    """Where some requests wait for a place before a thread computes their response."""

    def takes(self, environ: WSGIEnvironment) -> bool:
        """Return whether a request waits here; one that does is never larger than the others."""

    async def enter(self, environ: WSGIEnvironment) -> Callable[[], None]:
        """Wait for a place, and return the function that leaves it."""


class RefusedError(Exception):
    """A request that does not reach the application: its status, and what its client is told."""


class Buffered:
    """Runs a WSGI application in threads that never wait for a client.

    Requests larger than `largest` bytes are the exception. The application, which knows who may
    send them, reads them itself; one of unknown length is refused. Those that `queue` takes wait
    there after they have arrived.
    """

    def __init__(
        self,
        app: WSGIApplication,
        *,
        threads: int,
        largest: int,
        folder: Path,
        queue: WaitingLine | None = None,
    ) -> None:
        self.app, self.largest, self.folder, self.queue = app, largest, folder, queue
        folder.mkdir(parents=True, exist_ok=True)
        self.threads = ThreadPoolExecutor(threads, thread_name_prefix="requests")

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request; raises `TimeoutError` if its client does not take the answer."""
        loop, environ = asyncio.get_running_loop(), environ_of(scope)
        queue = self.queue if self.queue and self.queue.takes(environ) else None
        with self._file() as body, self._file() as answer:
            try:
                _require_utf8(environ.get("CONTENT_TYPE", ""))
                if int(environ.get("CONTENT_LENGTH", 0)) > self.largest and not queue:
                    environ["wsgi.input"] = io.BufferedReader(_Arriving(receive, loop), PART)
                else:
                    await self._receive(receive, body)
                    environ |= {"CONTENT_LENGTH": str(body.tell()), "wsgi.input": body}
                    body.seek(0)
            except RefusedError as refused:
                await _refuse(send, *refused.args)
                return
            response = _Response(answer, loop)
            leave = await queue.enter(environ) if queue else None
            computed = loop.run_in_executor(self.threads, response.compute, self.app, environ)
            if leave:
                computed.add_done_callback(lambda _: leave())
            await response.send(send, computed)

    def _file(self) -> SpooledTemporaryFile[bytes]:
        return SpooledTemporaryFile(IN_MEMORY, dir=str(self.folder))

    async def _receive(self, receive: Receive, body: SpooledTemporaryFile[bytes]) -> None:
        try:
            async with asyncio.timeout(PATIENCE) as limit:
                started, is_over = limit.when() or 0, False
                while not is_over:
                    part, is_over = await _part(receive)
                    body.write(part)
                    if body.tell() > self.largest:
                        raise RefusedError(413, f"The limit is {self.largest} bytes.")
                    limit.reschedule(started + body.tell() / SLOWEST)
        except TimeoutError:
            raise RefusedError(408, f"Send at least {SLOWEST} bytes per second.") from None


def _require_utf8(content_type: str) -> None:
    """Refuse other charsets and encoded parameters: Django fails on some, on every address."""
    for parameter in content_type.lower().split(";")[1:]:
        name, _, value = (part.strip(' \t"') for part in parameter.partition("="))
        if "*" in name or (name == "charset" and value not in {"utf-8", "utf8"}):
            excerpt = ascii(parameter.strip()[:80])
            raise RefusedError(415, f"Send UTF-8 and leave out {excerpt} of the content type.")


async def _part(receive: Receive) -> tuple[bytes, bool]:
    message = await receive()
    if message["type"] != "http.request":
        raise RefusedError(400, "The connection was closed before the request was complete.")
    return message.get("body", b""), not message.get("more_body", False)


async def _refuse(send: Send, status: int, sentence: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": sentence.encode()})


class _Arriving(io.RawIOBase):
    """The body of a request while it arrives; only the thread of the application reads it."""

    def __init__(self, receive: Receive, loop: asyncio.AbstractEventLoop) -> None:
        self.receive, self.loop = receive, loop
        self.rest, self.is_over = b"", False

    def readable(self) -> bool:
        """Return true."""
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        """Fill the buffer as far as bytes have come, and return their number."""
        while not self.rest and not self.is_over:
            coming = asyncio.run_coroutine_threadsafe(_part(self.receive), self.loop)
            try:
                self.rest, self.is_over = coming.result(PATIENCE)
            except (RefusedError, TimeoutError) as problem:
                raise OSError(f"The request ended before it was complete: {problem}") from problem
        view = memoryview(buffer).cast("B")
        count = min(len(view), len(self.rest))
        view[:count], self.rest = self.rest[:count], self.rest[count:]
        return count


class _Response:
    """What a thread computes and the event loop sends, each at its own pace."""

    def __init__(self, file: SpooledTemporaryFile[bytes], loop: asyncio.AbstractEventLoop) -> None:
        self.file, self.loop = file, loop
        # A thread appends to the file while the loop reads from it, and both move its position.
        self.lock, self.news = Lock(), asyncio.Event()
        self.start: Message = {}
        self.is_wanted = True

    def compute(self, app: WSGIApplication, environ: WSGIEnvironment) -> None:
        """Run the application to its end, in a thread."""
        parts = app(environ, self._start)
        try:
            for part in parts:
                if not self.is_wanted:
                    break
                self._write(part)
                if getattr(parts, "streaming", False):
                    self.loop.call_soon_threadsafe(self.news.set)
        finally:
            if hasattr(parts, "close"):
                parts.close()

    def _write(self, part: bytes) -> None:
        with self.lock:
            self.file.seek(0, io.SEEK_END)
            self.file.write(part)

    def _start(
        self, status: str, headers: list[tuple[str, str]], exc_info: object = None, /
    ) -> Callable[[bytes], object]:
        encoded = [(name.lower().encode("latin1"), text.encode("latin1")) for name, text in headers]
        start = {"type": "http.response.start", "status": int(status[:3]), "headers": encoded}
        self.start = start
        return self._write

    async def send(self, send: Send, computed: asyncio.Future[None]) -> None:
        """Send all that is computed; raises what the application raised."""
        computed.add_done_callback(lambda _: self.news.set())
        try:
            await self._send(send, computed)
        finally:
            self.is_wanted = False
            await asyncio.wait([computed])

    async def _send(self, send: Send, computed: asyncio.Future[None]) -> None:
        await self.news.wait()
        if computed.done():
            computed.result()
        await send(self.start)
        place, is_over = 0, False
        while not is_over:
            await self.news.wait()
            self.news.clear()
            if is_computed := computed.done():
                computed.result()
            while not is_over and ((part := self._part_at(place)) or is_computed):
                place += len(part)
                is_over = is_computed and len(part) < PART
                message = {"type": "http.response.body", "body": part, "more_body": not is_over}
                async with asyncio.timeout(PATIENCE):
                    await send(message)

    def _part_at(self, place: int) -> bytes:
        with self.lock:
            self.file.seek(place)
            return self.file.read(PART)


def environ_of(scope: Message) -> WSGIEnvironment:
    """Return the WSGI environment of a request, without its body.

    Names of headers with an underscore are left out: they would read as those that a proxy sets.
    """
    server, client = scope.get("server") or ("localhost", 80), scope.get("client") or ("", 0)
    environ = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(scope["raw_path"]).decode("latin1"),
        "QUERY_STRING": scope["query_string"].decode("latin1"),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "SERVER_NAME": str(server[0]),
        "SERVER_PORT": str(server[1]),
        "REMOTE_ADDR": str(client[0]),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope["scheme"],
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
    for name, value in scope["headers"]:
        if b"_" in name:
            continue
        key, text = name.decode("latin1").upper().replace("-", "_"), value.decode("latin1")
        if key not in {"CONTENT_TYPE", "CONTENT_LENGTH"}:
            key = f"HTTP_{key}"
        separator = "; " if key == "HTTP_COOKIE" else ","
        environ[key] = f"{environ[key]}{separator}{text}" if key in environ else text
    return environ
