"""Requests and responses pass through buffers on their way to and from Django's threads."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from arqlab import asgi
from arqlab.asgi import Buffered, Message, environ_of

SCOPE: Message = {
    "method": "POST",
    "raw_path": b"/a%2Fb/%C3%A9%FF",
    "query_string": b"q=%C3%A9",
    "http_version": "1.1",
    "server": ("127.0.0.1", "8000"),
    "client": ("192.0.2.1", "5000"),
    "scheme": "http",
    "headers": [(b"host", b"lab.example.org")],
}


def reads(environ: dict[str, Any], start: Callable[..., None]) -> list[bytes]:
    """Return the body of the request, as an application does."""
    start("200 OK", [("Content-Type", "text/plain")])
    length = int(environ["CONTENT_LENGTH"])
    return [b"%d: " % length, environ["wsgi.input"].read(length)]


@pytest.fixture
def asked(tmp_path: Path) -> Callable[..., list[Message]]:
    """Return a function that sends the parts of a body, and returns the messages of the answer."""

    def ask(app: Any, *parts: bytes, ends: bool = True, **scope: Any) -> list[Message]:
        left, sent = list(parts), []

        async def receive() -> Message:
            if not left and not ends:
                await asyncio.Event().wait()
            part = left.pop(0) if left else b""
            return {"type": "http.request", "body": part, "more_body": bool(left) or not ends}

        async def send(message: Message) -> None:
            sent.append(message)

        buffered = Buffered(app, threads=1, largest=1_000_000, folder=tmp_path)
        asyncio.run(buffered({**SCOPE, **scope}, receive, send))
        return sent

    return ask


def status_and_text(messages: list[Message]) -> tuple[int, bytes]:
    assert [message["more_body"] for message in messages[1:-1]] == [True] * (len(messages) - 2)
    return messages[0]["status"], b"".join(message["body"] for message in messages[1:])


def test_the_application_gets_a_whole_request_also_without_its_length(asked):
    assert status_and_text(asked(reads, b"a slow", b" client")) == (200, b"13: a slow client")


def test_a_body_and_an_answer_of_any_size_arrive_as_they_were_sent(asked):
    body = bytes(range(256)) * 3_000

    assert status_and_text(asked(reads, body[:500_000], body[500_000:])) == (
        200,
        b"768000: " + body,
    )


def test_an_answer_without_a_body_is_complete(asked):
    def empty(environ: object, start: Callable[..., None]) -> list[bytes]:
        start("204 No Content", [])
        return []

    assert status_and_text(asked(empty)) == (204, b"")


def test_a_request_that_never_ends_is_ended(asked, monkeypatch):
    monkeypatch.setattr(asgi, "PATIENCE", 0.01)
    monkeypatch.setattr(asgi, "SLOWEST", 1e9)

    assert status_and_text(asked(reads, b"a", ends=False))[0] == 408


def test_a_request_that_is_too_large_and_did_not_say_so_is_refused(asked):
    assert status_and_text(asked(reads, b"a" * 600_000, b"a" * 600_000))[0] == 413


@pytest.mark.parametrize(
    "parameter",
    ["charset=hex", "CHARSET = idna", "charset*=none''x", "charset*=utf-8''%00", "charset=latin1"],
)
def test_only_utf_8_reaches_the_application(asked, parameter):
    sent = [(b"content-type", f"text/plain; a=b; {parameter}".encode())]
    read = [(b"content-type", b'text/plain; charset="UTF-8"; boundary=b')]

    status, text = status_and_text(asked(reads, b"a", headers=sent))
    assert (status, parameter.lower() in text.decode().replace('"', "")) == (415, True)
    assert status_and_text(asked(reads, b"a", headers=read)) == (200, b"1: a")


def test_the_application_itself_reads_or_refuses_what_is_said_to_be_too_large(asked):
    headers = [(b"content-length", b"1200000")]
    parts = [b"a" * 600_000, b"b" * 600_000]

    def refuses(environ: object, start: Callable[..., None]) -> list[bytes]:
        start("413 Content Too Large", [])
        return [b"Unread."]

    assert status_and_text(asked(refuses, *parts, headers=headers)) == (413, b"Unread.")
    assert status_and_text(asked(reads, *parts, headers=headers))[1] == b"1200000: " + b"".join(
        parts
    )


def test_the_parts_of_a_download_are_sent_while_the_next_are_computed(tmp_path):
    first_is_sent = Event()

    class Download:
        streaming = True

        def __iter__(self) -> Iterator[bytes]:
            yield b"first"
            assert first_is_sent.wait(60)
            yield b"second"

    def app(environ: object, start: Callable[..., None]) -> Download:
        start("200 OK", [])
        return Download()

    async def receive() -> Message:
        return {"type": "http.request"}

    sent: list[bytes] = []

    async def send(message: Message) -> None:
        sent.append(message.get("body", b""))
        if message.get("body"):
            first_is_sent.set()

    buffered = Buffered(app, threads=1, largest=10, folder=tmp_path)
    asyncio.run(buffered(SCOPE, receive, send))
    assert b"".join(sent) == b"firstsecond"


def test_an_error_of_the_application_is_not_the_end_of_an_answer(asked):
    def fails(environ: object, start: Callable[..., None]) -> Iterator[bytes]:
        start("200 OK", [])
        yield b"half of "
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        asked(fails)


def test_the_path_and_the_headers_reach_django_as_they_were_sent():
    headers = [
        (b"cookie", b"a=1"),
        (b"cookie", b"b=2"),
        (b"x-forwarded-for", b"1"),
        (b"x-forwarded-for", b"2"),
        (b"content-type", b"text/plain"),
    ]
    environ = environ_of({**SCOPE, "headers": headers})

    assert environ["PATH_INFO"].encode("latin1") == b"/a/b/\xc3\xa9\xff"
    assert environ["HTTP_COOKIE"] == "a=1; b=2"
    assert environ["HTTP_X_FORWARDED_FOR"] == "1,2"
    assert environ["CONTENT_TYPE"] == "text/plain"
    assert environ["REMOTE_ADDR"] == "192.0.2.1"


def test_a_visitor_cannot_write_the_header_of_a_proxy_with_underscores():
    headers = [(b"x_forwarded_proto", b"https"), (b"x-forwarded-proto", b"http")]

    assert environ_of({**SCOPE, "headers": headers})["HTTP_X_FORWARDED_PROTO"] == "http"
