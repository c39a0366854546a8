"""Requests that no browser sends: the forms and links of the pages with values, bodies and headers
that nobody expects, and what is no HTTP.

The lists are in hostile.toml.
"""

import json
import re
import socket
import sys
import tomllib
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote, urlencode, urljoin, urlsplit

from lxml import html

_LISTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def meant(text: str) -> str:
    """Return the characters that an entry of a list stands for."""
    return text.encode("latin1").decode("unicode_escape").replace("LONG", "x" * 70_000)


def _listed(name: str) -> list[str]:
    return list(map(meant, _LISTS[name]))


FORM, MULTIPART, JSON = (
    "application/x-www-form-urlencoded",
    "multipart/form-data",
    "application/json",
)
VALUES = ["", " ", "\n", "9" * 5000, "[" * 20_000, *map(meant, _LISTS["values"].split())]
LIKELY: dict[str, list[str]] = _LISTS["likely"]
"""Values for empty fields, by their type."""
JSON_VALUES = [None, True, -1, 0.5, 2**31, 2**63, 10**30, 1e308, float("nan"), [], {}, *VALUES]
FILES, NAMES, TYPES = ["\n" * 5_000, *_listed("files")], _listed("names"), _listed("types")
TYPES.append(f"{MULTIPART}; boundary={'b' * 300}")
METHODS = "GET HEAD POST PUT PATCH DELETE OPTIONS TRACE PROPFIND get".split()
HEADERS = {name: meant(values).split("|") for name, values in _LISTS["headers"].items()}
NO_HTTP = [
    meant(line.replace("@", r"HTTP/1.1\r\nHost: localhost\r\n")).encode("latin1")
    for line in _LISTS["no_http"].splitlines()
]
"""What is sent to a port, the first of which is in order."""

TOO_MUCH = {"q": meant("LONG"), "next": "http://["}
"""What every field with a name is sent; the others get a number that no database holds."""


class Sent(NamedTuple):
    """What a form or a link of a page sends."""

    method: str
    path: str
    pairs: list[tuple[str, Any]]


class Request(NamedTuple):
    """A request as it is sent."""

    method: str
    path: str
    body: bytes = b""
    content_type: str = ""
    headers: dict[str, str] = {}


class File(NamedTuple):
    """A file of a form."""

    name: str
    content: bytes


def asked_parameters(view: Any) -> list[str]:
    """Return the names of the parameters that the module of a view reads, and those of tables."""
    source = Path(str(sys.modules[view.__module__].__file__)).read_text(encoding="utf-8")
    asks = re.findall(r'(?:GET|POST|asked|params)(?:\.get(?:list)?\(|\[)"([\w-]+)"', source)
    whether = re.findall(r'"([\w-]+)" (?:not )?in \w+\.(?:GET|POST)', source)
    return sorted({*asks, *whether, "page", "sort", "format", "q"})


def offered(chance: Random, page: bytes, path: str) -> list[Sent]:
    """Return what the links and the forms of a page send, filled in by chance."""
    root = html.fromstring(page)
    found = [
        Sent(form.method, urljoin(path, form.action or ""), _filled(chance, form))
        for form in root.forms
    ]
    for link in root.xpath("//a/@href[contains(., '?')]"):
        parts = urlsplit(urljoin(path, link))
        found.append(Sent("GET", parts.path, parse_qsl(parts.query)))
    return [sent for sent in found if sent.path.startswith("/")]


def _filled(chance: Random, form: html.FormElement) -> list[tuple[str, Any]]:
    pairs = []
    for each in form.xpath(".//*[@name][not(@name='csrfmiddlewaretoken')]"):
        kind, value = each.get("type", each.tag), each.get("value", "")
        if kind in ("checkbox", "radio", "submit", "button") and chance.random() < 0.5:
            continue
        if kind == "select":
            value = chance.choice(each.value_options or [""])
        elif kind == "textarea":
            value = each.value or ""
        elif kind == "file":
            value = File("a.tsv", b"")
        pairs.append((each.get("name"), value or chance.choice(LIKELY.get(kind, LIKELY[""]))))
    return pairs


def hostile(chance: Random, sent: Sent, names: list[str]) -> Request:
    """Return a request like one that a page offers, with something that nobody expects."""
    method = sent.method if chance.random() < 0.9 else chance.choice(METHODS)
    pairs = _changed(chance, sent.pairs, names)
    method, path, body, kind, _ = _request(chance, Sent(method, _at(chance, sent.path), pairs))
    if body and chance.random() < 0.15:
        place = chance.randrange(len(body) + 1)
        body = body[:place] + chance.choice((b"", b"\xff", b"\0", b"%", body))
    if body and chance.random() < 0.15:
        kind = chance.choice(TYPES)
    some = chance.sample(list(HEADERS), chance.choice((0, 0, 1, 2)))
    headers = {name: chance.choice(HEADERS[name]) for name in some}
    return Request(method, path, body, kind, headers)


def too_much(chance: Random, sent: Sent) -> Request:
    """Return a request like one that a page offers, with more in every field than it holds."""
    pairs = [
        (name, value if isinstance(value, File) else TOO_MUCH.get(name, "9" * 26))
        for name, value in sent.pairs
    ]
    return _request(chance, sent._replace(pairs=pairs))


def _request(chance: Random, sent: Sent) -> Request:
    if sent.method in ("GET", "HEAD"):
        query = urlencode(sent.pairs, errors="surrogatepass")
        return Request(sent.method, f"{sent.path}?{query}")
    kind, body = _encoded(chance, sent.pairs)
    return Request(sent.method, sent.path, body, kind)


def _changed(
    chance: Random, pairs: list[tuple[str, Any]], names: list[str]
) -> list[tuple[str, Any]]:
    """Return the pairs with a few values replaced, added or left out."""
    pairs = list(pairs)
    for _ in range(chance.choice((0, 1, 1, 1, 2, 5))):
        place = chance.randrange(len(pairs) + 1)
        name, value = pairs[place] if place < len(pairs) else (chance.choice(names), "")
        if isinstance(value, File) and chance.random() < 0.9:
            content = chance.choice(FILES).encode("latin1")
            new = [(name, File(chance.choice(NAMES), content))]
        else:
            new = [(_renamed(chance, name), _other(chance, str(value)))]
        pairs[place : place + 1] = chance.choice((new, new, new, [], [*new, *new]))
    return pairs


def _renamed(chance: Random, name: str) -> str:
    """Return the name of a field, at times with another number in it."""
    number = chance.choice(VALUES)
    return re.sub(r"\d+", lambda _: number, name) if chance.random() < 0.1 else name


def _other(chance: Random, value: str) -> str:
    """Return another value; of JSON, at times another part."""
    if value[:1] in ("[", "{") and chance.random() < 0.7:
        with suppress(ValueError, RecursionError):
            return json.dumps(hostile_json(chance, json.loads(value)))
    return chance.choice(VALUES)


def _at(chance: Random, path: str) -> str:
    """Return the path, at times with another part."""
    parts = path.split("/")
    if chance.random() < 0.1 and len(parts) > 2:
        value = chance.choice(VALUES)[:300].encode(errors="surrogatepass")
        parts[chance.randrange(1, len(parts) - 1)] = quote(value, "")
    return "/".join(parts)


def _encoded(chance: Random, pairs: list[tuple[str, Any]]) -> tuple[str, bytes]:
    has_file = any(isinstance(value, File) for _, value in pairs)
    kind = chance.choices((FORM, MULTIPART, JSON), (1, 9, 1) if has_file else (8, 2, 1))[0]
    if kind == MULTIPART:
        return f"{MULTIPART}; boundary=b", b"".join(map(_part, pairs)) + b"--b--\r\n"
    if kind == FORM:
        return FORM, urlencode(pairs, errors="surrogatepass").encode()
    return JSON, json.dumps(dict(pairs), default=repr).encode()


def _part(pair: tuple[str, Any]) -> bytes:
    name, value = pair
    is_file = isinstance(value, File)
    file, content = (f'; filename="{value.name}"', value.content) if is_file else ("", value)
    head = f'--b\r\nContent-Disposition: form-data; name="{name}"{file}\r\n\r\n'
    content = content if is_file else str(value).encode(errors="surrogatepass")
    return head.encode(errors="surrogatepass") + content + b"\r\n"


def hostile_json(chance: Random, value: Any) -> Any:
    """Return a JSON value in which one part is another."""
    if not value or not isinstance(value, (dict, list)) or chance.random() < 0.1:
        return chance.choice(JSON_VALUES)
    place: Any = chance.choice(list(value) if isinstance(value, dict) else range(len(value)))
    copy = value.copy()
    if chance.random() < 0.1:
        del copy[place]
    else:
        copy[place] = hostile_json(chance, value[place])
    return copy


def broken(chance: Random) -> bytes:
    """Return what is sent to a port with some bytes replaced, left out or repeated."""
    raw = bytearray(chance.choice(NO_HTTP)[:20_000])
    for _ in range(chance.choice((1, 2, 9))):
        start, length = chance.randrange(len(raw) + 1), chance.choice((0, 1, 1, 4, 99))
        some = (b"\r\n", b"\n", b"\0", b" ", b":", b"\xff", b"0", bytes(raw[start : start + 99]))
        raw[start : start + length] = chance.choice(some)
    return bytes(raw)


def connected(port: int, raw: bytes) -> socket.socket:
    """Return a connection on which some bytes were sent, as far as the server took them."""
    client = socket.create_connection(("127.0.0.1", port), timeout=300)
    with suppress(ConnectionError):
        client.sendall(raw)
    return client


def status_of(client: socket.socket) -> str:
    """Return the status of the answer, or "" if none has come."""
    with client, suppress(ConnectionError, BlockingIOError):
        return client.recv(99)[9:12].decode("latin1")
    return ""
