"""The pages of a lab that everyone may open, as files that need neither a server nor scripts."""

import re
from collections.abc import Iterator
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from posixpath import dirname, normpath, relpath
from typing import Any, NamedTuple, cast
from urllib.parse import parse_qsl, quote, urldefrag, urljoin, urlsplit
from zlib import compress, decompress

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.backends.signed_cookies import SessionStore
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.handlers.wsgi import WSGIRequest
from django.http import Http404
from django.urls import resolve, reverse
from lxml import html

from arqlab.core.models import Lab

ASKED = {
    "labs:topic-list": {"page"},
    "evaluation:leaderboard": {"format", "page", "qrels"},
    "evaluation:run-scores": {"measure", "qrels"},
    "evaluation:topic-scores": {"measure", "qrels"},
}
"""The parameters of links that the site has; it leaves out all other links with parameters."""
WITHOUT_SERVER = """
    //script | //form | //dialog | //template | //button | //input | //select | //label
    | //*[@data-chart] | //a[starts-with(@href, '/accounts/')]
    | //header[contains(@class, 'site-header')]
"""
"""What is left out. The numbers of charts are in tables beside them."""
CSS_LINK = re.compile(rb"""(?:url\(|@import )["']?([\w./-]+\.(?:css|woff2|svg|png))""")


class Address(NamedTuple):
    """The path of a page, and its parameters."""

    path: str
    query: str


class Answer(NamedTuple):
    """What a visitor gets: the content and its type, or where they are sent."""

    content: bytes
    type: str
    location: str


def site_files(lab: Lab) -> Iterator[tuple[str, bytes]]:
    """Yield the path and the content of each file of a lab's site; it begins at `index.html`."""
    root = reverse("desk:lab-detail", args=[lab.slug])
    contents: dict[str, bytes] = {}
    places = _places(root, contents)
    assets: dict[str, None] = {}
    for address, place in places.items():
        if place in contents:  # or it is the place of an earlier address too
            content = decompress(contents.pop(place))
            is_page = place.endswith(".html")
            yield place, _standalone(content, address, places, assets) if is_page else content
    waiting = list(assets)
    while waiting:
        name = waiting.pop()
        content = _asset(name)
        yield f"static/{name}", content
        linked = (link.decode() for link in CSS_LINK.findall(content) if name.endswith(".css"))
        new = {normpath(f"{dirname(name)}/{link}") for link in linked} - assets.keys()
        waiting += new
        assets |= dict.fromkeys(new)


def _places(root: str, contents: dict[str, bytes]) -> dict[Address, str]:
    """Return the paths in the site of all pages below the root that a visitor can reach.

    `contents` gets what is at each path, compressed: only when all pages are known, it is known
    which links lead to one of them.
    """
    places: dict[Address, str] = {}
    moved: dict[Address, Address] = {}
    waiting = [Address(root, "")]
    addresses = set(waiting)
    while waiting:
        address = waiting.pop(0)
        try:
            answer = _answer(address)
        except Http404:
            continue
        links = [answer.location] if answer.location else _links(answer)
        if "measure=" in address.query:  # its measures by topics by runs would be too many
            links = []
        targets = [one for link in links if (one := _address(link, address, root))]
        if answer.location and targets:
            moved[address] = targets[0]
        elif not answer.location:
            places[address] = _place(address, answer, root)
            contents[places[address]] = compress(answer.content, 1)
        new = [target for target in dict.fromkeys(targets) if target not in addresses]
        addresses.update(new)
        waiting += new
    return places | {one: places[to] for one, to in moved.items() if to in places}


def _answer(address: Address) -> Answer:
    """Return what a visitor gets. No middleware is asked, so that all of it is computed at once."""
    environ = {"REQUEST_METHOD": "GET", "SERVER_NAME": "localhost", "SERVER_PORT": "80"}
    environ |= {"PATH_INFO": address.path, "QUERY_STRING": address.query}
    request = WSGIRequest({**environ, "wsgi.input": BytesIO()})
    request.user, request.session = AnonymousUser(), SessionStore()
    request.resolver_match = match = resolve(address.path)
    response = match.func(request, *match.args, **match.kwargs)
    content = b"".join(response) if response.streaming else response.content
    if response.status_code >= 400:
        raise Http404
    return Answer(content, response.headers["Content-Type"], response.headers.get("Location", ""))


def _links(answer: Answer) -> list[str]:
    if not answer.type.startswith("text/html"):
        return []
    page: Any = html.fromstring(answer.content)
    return [link for link in page.xpath("//a/@href") if link]


def _address(link: str, of: Address, root: str) -> Address | None:
    """Return what a link on a page leads to, or None if the site does not have it."""
    try:
        parts = urlsplit(urldefrag(urljoin(of.path, link)).url)
        if parts.netloc or not parts.path.startswith(root):
            return None
        names = {name for name, _ in parse_qsl(parts.query)}
        if names and not names <= ASKED.get(resolve(parts.path).view_name, set()):
            return None
    except (ValueError, Http404):  # people write invalid links
        return None
    return Address(parts.path, parts.query)


def _place(address: Address, answer: Answer, root: str) -> str:
    """Return the path of a page or file in the site."""
    path = address.path.removeprefix(root)
    form = dict(parse_qsl(address.query)).get("format", "")
    suffix = f"-{sha256(address.query.encode()).hexdigest()[:8]}" if address.query else ""
    if not answer.type.startswith("text/html"):
        return f"{path.rstrip('/')}{suffix}.{form}" if form else path
    return f"{path}index{suffix}.html"


def _standalone(
    content: bytes, address: Address, places: dict[Address, str], assets: dict[str, None]
) -> bytes:
    """Return a page with links to the files of the site, and nothing that needs a server.

    The names of its static files are added to `assets`.
    """
    page: Any = html.fromstring(content)
    for element in page.xpath(WITHOUT_SERVER):
        if element.getparent().tag == "th":  # a button that sorts by the column
            element.drop_tag()
        else:
            element.drop_tree()
    for frame in page.find_class("table-frame"):
        frame.set(
            "tabindex", "0"
        )  # keys scroll a wide table, which a script lets them do elsewhere
    folder = dirname(places[address]) or "."
    for element, attribute, link, _ in list(page.iterlinks()):
        if attribute is not None and link.startswith(settings.STATIC_URL):
            name = link.removeprefix(settings.STATIC_URL)
            assets[name] = None
            element.set(attribute, relpath(f"static/{name}", folder))
        elif element.tag == "a" and not link.startswith(("#", "http:", "https:", "//", "mailto:")):
            target = _address(link, address, next(iter(places)).path)
            _link_to(element, link, target and places.get(target), folder)
    return cast(bytes, html.tostring(page, encoding="utf-8", doctype="<!DOCTYPE html>"))


def _link_to(element: Any, link: str, place: str | None, folder: str) -> None:
    """Let a link lead to a file of the site, or leave its words, and nothing of a button."""
    if place:
        fragment = urldefrag(link).fragment
        element.set("href", quote(relpath(place, folder)) + (f"#{fragment}" if fragment else ""))
    elif "btn" in element.get("class", ""):
        element.drop_tree()
    else:
        element.drop_tag()


def _asset(name: str) -> bytes:
    path = staticfiles_storage.path(name)
    return Path(path if Path(path).exists() else finders.find(name) or path).read_bytes()
