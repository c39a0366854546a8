r"""Requests that no browser sends: the forms and links of the pages with values, bodies and headers
that nobody expects, and what is no HTTP.

In the lists, `\0` and the like stand for these characters, and LONG for very many.
"""

import json
import re
import socket
import sys
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote, urlencode, urljoin, urlsplit

from lxml import html


def meant(text: str) -> str:
    """Return the characters that an entry of a list stands for."""
    return text.encode("latin1").decode("unicode_escape").replace("LONG", "x" * 70_000)


VALUES = ["", " ", "\n", "9" * 5000, "[" * 20_000, '[{"\\ud800": null}]']
VALUES += map(
    meant,
    r"""
    \0 a\0b \ud800 \uffff \u202e \U0001f600 \u0663 \xb2 % %s '"<b> LONG -1 0 1 2 1.5 1e9 1_0 NaN
    -Infinity 0x10 +1 1,2,1 1-2 2147483648 9223372036854775808 999999999999999999 1e400
    99999999999999999999999999 2026-02-30 0001-01-01 9999-12-31T23:59 10000-01-01 24:00
    2026-11-26T00:00 json tsv csv latex zip yes no on true null all none A.1 A.2 ERR@500 P@0 P@-1
    nDCG' nDCG@1e9 RBP(p=2) P(rel=-1)@5 ../../etc/passwd http://[ //evil.example a@b $\\frac $$x$$
    <p>\0</p> {} [] [[ {"a":1e999} " ( * \\ """.split(),
)
LIKELY = {
    "number": ("1", "2"),
    "datetime-local": ("2026-12-01T10:00", ""),
    "date": ("2026-12-01", ""),
    "email": ("a@example.org",),
    "": ("", "x", "A.1", "1", "x y"),
}
"""Values for empty fields, by their type."""
JSON_VALUES = [None, True, -1, 0.5, 2**31, 2**63, 10**30, 1e308, float("nan"), [], {}, *VALUES]
FILES = [
    "A.1\t10\t1\t2.5\tnew\n",
    "A.1\t10\n\0\t\xff",
    "\n" * 5_000,
    "topic,difficulty\nA.1,\xed\xa0\n",
]
FILES += map(
    meant,
    r"""\0 \xff\xfe \xef\xbb\xbf PK\x03\x04 \x1f\x8b\x08 7z\xbc\xaf\x27\x1c <a
    <!DOCTYPE\ta[<!ENTITY\tb\t''>]><a>&b;</a> [ name\t=\t LONG""".split(),
)
NAMES = [*map(meant, r"a.zip a.gz a.xml a.toml \0 .. LONG \ud800.tsv a.7z ../a.csv".split())]
NAMES += ["", "Alpha-task1-new-auto-both-A.tsv"]
FORM, MULTIPART, JSON = (
    "application/x-www-form-urlencoded",
    "multipart/form-data",
    "application/json",
)
TYPES = ["", *map(meant, r"a text/plain text/xml application/octet-stream multipart/x \0".split())]
TYPES += [f"{MULTIPART}; boundary={it}" for it in ("b; charset=utf-8", "b" * 300, "\xff", "")]
TYPES += [f"{kind}; charset=utf-8; charset" for kind in (FORM, JSON, MULTIPART)]
METHODS = "GET HEAD POST PUT PATCH DELETE OPTIONS TRACE PROPFIND get".split()
HEADERS = {
    name: [meant(value) for value in values.split("|")]
    for name, _, values in (
        line.strip().partition(": ")
        for line in r"""Accept: |application/json|*/*;q=x|text/x|,;=|application/json; version=9
    Accept-Language: |*|de;q=x|LONG|\xff
    Accept-Encoding: gzip|gzip;q=x, br|\xff
    Authorization: Bearer|Bearer \xff|Bearer a b|Basic x|Token x|bearer \0
    Content-Length: -1|0
    Content-Encoding: gzip|\xff
    Cookie: messages="\\000"|arqlab_user="\\000"|sessionid="\\000"|=|;;=;|csrftoken=\xff|a=LONG
    Host: |a b|[::1|a:99999|\xff|LONG
    HX-Request: true|\xff
    HX-History-Restore-Request: true
    If-None-Match: *|"|W/"|\xff
    If-Modified-Since: yesterday|Sun, 31 Feb 9999 99:99:99 GMT|\xff
    Origin: null|http://[
    Range: bytes=0-0|bytes=-|bytes=9-1|bytes=999999999999999999999-|bytes=0-0,2-|\xff
    Referer: http://[|//|http://testserver/\xff|http://testserver:x/
    Sec-Purpose: prefetch
    User-Agent: |\0\xff|LONG
    X-Forwarded-For: x|1.2.3.4, \xff|,|::1%a
    X-Forwarded-Host: a b
    X-Forwarded-Proto: https|x
    X-Judging-User: 1|x|\xb2
    X-Request-ID: \xff|LONG""".splitlines()
    )
}
NO_HTTP = [
    meant(line.replace("@", r"HTTP/1.1\r\nHost: localhost\r\n")).encode("latin1")
    for line in r"""GET /health/live @\r\n
GET\r\n\r\n
\r\n\r\n
\0\0\0\0\xff\xffLONG
GET / HTTP/9.9\r\n\r\n
GET / HTTP/1.1\r\n\r\n
GET /\r\n
get / @\r\n
PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n
\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03aaaa
GET http://[ @\r\n
GET * @\r\n
OPTIONS * @\r\n
CONNECT a:1 @\r\n
GET /%zz/%00/%ff?%zz=% @\r\n
GET /\xff?\xff=\0 @\r\n
GET /../../etc/passwd @\r\n
GET //a/b @\r\n
GET /LONG @\r\n
GET / @A: LONGLONGLONGLONG\r\n\r\n
GET / @A\r\n\r\n
GET / @: a\r\n\r\n
GET / @A b: c\r\n\r\n
GET / @A: \0\r\n\r\n
GET / @ folded\r\n\r\n
GET / @Host: b\r\n\r\n
GET / @Expect: x\r\n\r\n
GET /static/a.js @Range: bytes=9-1\r\n\r\n
GET / @Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\r\n
GET / @Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: \r\n\r\n
POST /labs/?a=%ff @Content-Type: a/b; charset=hex\r\n\r\n
POST /labs/?a=%ff @Content-Type: a/b; charset=undefined\r\n\r\n
POST /labs/?a=%ff @Content-Type: a/b; charset*=none''x\r\n\r\n
POST /labs/?a=%ff @Content-Type: a/b; charset*=utf-8''%00\r\n\r\n
POST /labs/ @Transfer-Encoding: chunked\r\n\r\nzz\r\n
POST /labs/ @Transfer-Encoding: chunked\r\n\r\n-1\r\n
POST /labs/ @Transfer-Encoding: chunked\r\n\r\nffffffffffffffffffff\r\n
POST /labs/ @Transfer-Encoding: chunked\r\n\r\n5\r\nab
POST /labs/ @Transfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n
POST /labs/ @Transfer-Encoding: chunked\r\n\r\n1;LONG
POST /labs/ @Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\nGET / @\r\n
POST /labs/ @Transfer-Encoding: gzip, x\r\n\r\n
POST /labs/ @Content-Length: -1\r\n\r\nabc
POST /labs/ @Content-Length: +3\r\n\r\nabc
POST /labs/ @Content-Length: x\r\n\r\nabc
POST /labs/ @Content-Length: 9\r\n\r\nabc
POST /labs/ @Content-Length: 3, 4\r\n\r\nabc
POST /labs/ @Content-Length: 99999999999999999999\r\n\r\nabc
POST /labs/ @Content-Length: 2147483648\r\n\r\nabc
POST /labs/ @Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd""".splitlines()
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
    source = Path(str(sys.modules[view.__module__].__file__)).read_text()
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
