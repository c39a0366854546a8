"""The buttons of pages, and a visitor who presses them as they are after a plain GET request."""

import json
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from http.cookies import SimpleCookie
from typing import Any, NamedTuple
from urllib.parse import urlencode, urljoin, urlsplit

from django.conf import settings
from django.core.cache import caches
from django.db import transaction
from django.http import HttpResponse
from django.test import Client
from django.urls import Resolver404, resolve
from django.utils import timezone
from lxml import html

from arqlab.core.models import Job, Lab, User
from desk.views.loads import FORMS, SECTIONS

SUBMITS = "self::button[not(@type) or @type='submit'] or self::input[@type='submit']"
ELSEWHERE = ("/docs/", "/static/", "/admin/")
"""Addresses that are no pages of ours."""
PLACEHOLDER = "/x/"
"""A part of the links of rows that a test filled with `x`."""
OF_A_VIEW = 1
"""How many pages of a view are opened, beside those that a visit begins with."""
REFUSED = (401, 403, 404, 405)


class Press(NamedTuple):
    """What a button sends, and where it is."""

    page: str
    label: str
    method: str
    path: str
    pairs: tuple[tuple[str, str], ...]
    is_htmx: bool = False

    def __str__(self) -> str:
        return f"{self.page}: {self.label!r} sends {self.method} {self.path}"

    @property
    def kind(self) -> tuple[str, ...]:
        """Return what this button has in common with those of other rows."""
        same = (name if name != "action" else f"action={value}" for name, value in self.pairs)
        parts = (self.method, urlsplit(self.path).path, self.label, *sorted(same))
        return tuple(re.sub(r"\d+", "#", part) for part in parts)


def presses_of(page: str, path: str) -> Iterator[Press]:
    """Yield what each button of a page sends, as a browser does without scripts, and with htmx."""
    root = html.fromstring(page)
    for form in root.forms:
        submits = form.xpath(f".//*[{SUBMITS}]")
        if form.get("id"):
            submits += root.xpath(f"//*[({SUBMITS}) and @form=$form]", form=form.get("id"))
        works = (button for button in submits if "disabled" not in button.attrib)
        presses = (_press(form, button, path) for button in works)
        yield from (press for press in presses if press.method in ("GET", "POST"))
    for element in root.xpath("//*[@hx-get or @hx-post]"):
        method = "POST" if element.get("hx-post") else "GET"
        form = next(element.iterancestors("form"), element if element.tag == "form" else None)
        pairs = [] if form is None else _values(form)
        pairs += json.loads(element.get("hx-vals", "{}")).items()
        address = urljoin(path, element.get("hx-post") or element.get("hx-get"))
        yield Press(path, _label(element), method, address, tuple(pairs), is_htmx=True)
    for link in root.xpath("//a[@href and contains(concat(' ', @class, ' '), ' btn ')]"):
        address = urljoin(path, link.get("href"))
        if _is_ours(address):
            yield Press(path, _label(link), "GET", address, ())


def links_of(page: str, path: str) -> Iterator[str]:
    """Yield the addresses of ours that a page links."""
    for link in html.fromstring(page).xpath("//a/@href"):
        address = urljoin(path, link).partition("#")[0]
        if _is_ours(address):
            yield address


def _is_ours(address: str) -> bool:
    return (
        address.startswith("/") and not address.startswith(ELSEWHERE) and PLACEHOLDER not in address
    )


def _label(element: html.HtmlElement) -> str:
    return " ".join((element.text_content() or element.get("value") or "").split())[:60]


def _values(form: html.FormElement) -> list[tuple[str, str]]:
    """Return what the fields of a form send, but for files."""
    for empty in form.xpath(".//input[not(@value)][not(@type='checkbox' or @type='radio')]"):
        empty.set("value", "")
    # The line end after <textarea> is not part of its text.
    return [(name, value.removeprefix("\n")) for name, value in form.form_values()]


def _press(form: html.FormElement, button: html.HtmlElement, path: str) -> Press:
    method = (button.get("formmethod") or form.get("method") or "get").upper()
    # A browser sends a form without an address to the page's own.
    address = urljoin(path, button.get("formaction") or form.get("action") or path)
    pairs = _values(form)
    if button.get("name"):
        pairs.append((button.get("name"), button.get("value", "")))
    return Press(path, _label(button), method, address, tuple(pairs))


class Visitor:
    """Someone who opens the pages that they are shown, and presses the buttons there.

    What a button changes is undone afterwards. Of the buttons that differ only in numbers, the
    first is pressed.
    """

    def __init__(self, cookies: SimpleCookie) -> None:
        self.client = Client(enforce_csrf_checks=True, raise_request_exception=False)
        self.cookies = deepcopy(cookies)
        self.client.cookies = deepcopy(cookies)
        self.kinds: set[tuple[str, ...]] = set()
        self.faults: list[str] = []

    def pages(self, start: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Yield address and text of the pages that a start and its links lead to."""
        waiting, views = deque(start), Counter[str]()
        listed = set(waiting)
        free = len(waiting)  # what the start names is opened in any case
        while waiting:
            address, free = waiting.popleft(), free - 1
            name = view_of(address)
            if free < 0 and views[name] >= OF_A_VIEW:
                continue
            views[name] += 1
            with self.undone():
                page = self.get(address)
                if free < 0 and is_refused(page):
                    self.faults.append(f"a link to {address}: {page.status_code}")
                text = text_of(page)
            if text:
                yield address, text
                links = [link for link in links_of(text, address) if link not in listed]
                waiting += dict.fromkeys(links)
                listed.update(links)

    @contextmanager
    def undone(self) -> Iterator[None]:
        """Undo what is written, signed out or computed in this block."""
        with transaction.atomic():
            yield
            transaction.set_rollback(True)
        token = self.client.cookies.get(settings.CSRF_COOKIE_NAME)
        if token and token.key not in self.cookies:
            self.cookies[token.key] = token.value
        self.client.cookies = deepcopy(self.cookies)
        for name in ("computed", "default"):  # other rows will have the numbers of those undone
            caches[name].clear()

    def get(self, address: str) -> HttpResponse:
        """Return the answer to a GET request."""
        answer: HttpResponse = self.client.get(address)
        return answer

    def press_all(self, page: str, address: str, *, deeper: int = 1) -> None:
        """Press the buttons of a page, and those of the pages that they lead to."""
        for press in presses_of(page, address):
            if press.kind in self.kinds:
                continue
            self.kinds.add(press.kind)
            with self.undone():
                answer = self.send(press)
                if is_refused(answer):
                    self.faults.append(f"{press}: {answer.status_code}")
                elif answer.status_code == 302 and _is_ours(answer["Location"]):
                    self.follow(press, answer["Location"], deeper)

    def follow(self, press: Press, address: str, deeper: int) -> None:
        """Open the page to which a button led, and press what is new there."""
        answer = self.get(address)
        if is_refused(answer):
            self.faults.append(f"{press}, which leads to {address}: {answer.status_code}")
        elif deeper and (text := text_of(answer)):
            self.press_all(text, address, deeper=deeper - 1)

    def send(self, press: Press) -> Any:
        """Return the answer to a button."""
        headers = {"Referer": f"http://testserver{press.page}"}
        if press.is_htmx:
            headers["HX-Request"] = "true"
            headers["X-CSRFToken"] = dict(press.pairs).get("csrfmiddlewaretoken", "")
        if press.method == "GET":
            query = urlencode(press.pairs)
            path = press.path.partition("?")[0] if query else press.path
            return self.client.get(f"{path}?{query}" if query else path, headers=headers)
        data: dict[str, list[str]] = {}
        for name, value in press.pairs:
            data.setdefault(name, []).append(value)
        return self.client.post(press.path, data, headers=headers)


def make_loads(lab: Lab, *, by: User) -> list[Job]:
    """Make a load of topics in each state, and one of every other kind that waits for an answer."""
    now = timezone.now()
    states = [("topics", state) for state in Job.State]
    states += [(kind, Job.State.UNCONFIRMED) for kind in FORMS if kind != "topics"]
    return [
        Job.objects.create(
            kind=kind,
            lab=lab,
            task=lab.tasks.first() if kind in SECTIONS else None,
            state=state,
            by=by,
            created_at=now,
            updated_at=now,
        )
        for kind, state in states
    ]


def is_refused(answer: HttpResponse) -> bool:
    """Return whether an answer refuses the address itself, or is a fault of the server."""
    return answer.status_code in REFUSED or answer.status_code >= 500


def text_of(answer: HttpResponse) -> str:
    """Return the text of a page, or nothing for a file or another answer."""
    is_page = answer.status_code == 200 and answer["Content-Type"].startswith("text/html")
    return answer.text if is_page else ""


def view_of(address: str) -> str:
    """Return the name of the view at an address."""
    try:
        return resolve(urlsplit(address).path).view_name
    except Resolver404:
        return ""
