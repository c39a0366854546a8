"""Pages: each declares its address, who may open it, and its section, next to its code."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import wraps
from inspect import signature
from typing import NamedTuple, TypedDict, Unpack

from django.contrib.auth.decorators import login_required
from django.db.models import Model
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import URLPattern, path
from django.views.decorators.http import require_http_methods

from arqlab.web.tabs import Tab

LAB = "labs/<slug:lab>/"
TASK = f"{LAB}tasks/<slug:task>/"
READ = ("GET", "HEAD")
FILE, ROWS = "file", "rows"
View = Callable[..., HttpResponseBase]
ENDS_OF_ARGUMENTS = re.compile(r"(?<!^query)_(?:slug|id|key)$")
"""What arguments say beside the name of a thing: which of its fields the address has."""


class PageFields(TypedDict, total=False):
    """The fields of `Page` that a page declares."""

    access: Callable[..., object] | None
    section: str
    sign_in: bool
    in_archive: bool
    takes_loads: bool
    api: str
    query: Mapping[str, str]
    guide: str
    shows: str
    tabs: tuple[Tab, ...]


@dataclass(frozen=True)
class Page:
    """An address and the view that answers it.

    `access` is asked first, with the user and as many arguments of the address as it takes. It
    returns the subject of the page, such as a task, or raises `Http404`; the template gets its lab
    and task. `section` is the tab that is marked on the page. An action `in_archive` also answers
    in an archived lab or task. A page that `takes_loads` accepts whole labs and collections, up to
    the room on the server. A page with `api` also answers in the API: with its `FILE`, or with the
    `ROWS` of its first table, or of that which the address names. `query` describes parameters of
    its own in the schema. `guide` is the chapter of the guides, if it is not that of its section.
    `shows` is the place by which apps below link the page (`arqlab.web.places`), and `tabs` are
    those that lead to it.
    """

    access: Callable[..., object] | None = None
    section: str = ""
    sign_in: bool = False
    in_archive: bool = False
    takes_loads: bool = False
    api: str = ""
    query: Mapping[str, str] = field(default_factory=dict)
    guide: str = ""
    shows: str = ""
    tabs: tuple[Tab, ...] = ()
    methods: tuple[str, ...] = READ

    def asked(self, view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
        """Return a view that asks for access before it calls `view`."""
        access, names = self.access, self.access_names()

        @wraps(view)
        def answered(request: HttpRequest, **kwargs: object) -> HttpResponseBase:
            if access is None:
                return view(request, **kwargs)
            values = {name: kwargs.pop(part) for name, part in names.items()}
            subject = access(request.user, **values)
            request.subject = subject  # type: ignore[attr-defined]
            return view(request, subject, **kwargs)

        return answered

    def access_names(self) -> dict[str, str]:
        """Return the placeholders of the address that access is asked with, by its arguments.

        `lab_slug`, `run_id` and `round_key` are the placeholders `lab`, `run` and `round`; others
        have the name of their placeholder.
        """
        names = [] if self.access is None else list(signature(self.access).parameters)[1:]
        return {name: ENDS_OF_ARGUMENTS.sub("", name) for name in names}

    def answer(self, view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
        """Return the view that Django calls: it asks for sign-in, method and access first."""
        answered = self.asked(view)
        signed_in = login_required(answered) if self.sign_in else answered
        handler = require_http_methods(list(self.methods))(signed_in)
        handler.page, handler.unguarded = self, view  # type: ignore[attr-defined]
        return handler


class ApiPage(NamedTuple):
    """A page that the API has too: its address, its name, its declaration and its view."""

    route: str
    name: str
    page: Page
    view: View


class Pages:
    """The pages of a module: `urls` are their patterns, in the order in which they were declared.

    `apis` are those that the API has too (`arqlab.web.patterns`). The arguments are defaults for
    every page; all addresses begin with `under`. A declared view asks for sign-in, method and
    access whoever calls it.
    """

    def __init__(
        self,
        under: str = "",
        access: Callable[..., object] | None = None,
        *,
        section: str = "",
        sign_in: bool = False,
    ) -> None:
        self.under = under
        self.page = Page(access, section, sign_in)
        self.urls: list[URLPattern] = []
        self.apis: list[ApiPage] = []

    def read(self, route: str, name: str, **fields: Unpack[PageFields]) -> Callable[[View], View]:
        """Declare a page that only reads; `fields` are fields of `Page`."""
        return self._declare(route, name, READ, fields)

    def form(self, route: str, name: str, **fields: Unpack[PageFields]) -> Callable[[View], View]:
        """Declare a page with a form; `fields` are fields of `Page`."""
        return self._declare(route, name, (*READ, "POST"), fields)

    def action(self, route: str, name: str, **fields: Unpack[PageFields]) -> Callable[[View], View]:
        """Declare an action of another page; `fields` are fields of `Page`."""
        return self._declare(route, name, ("POST",), fields)

    def rows(self, route: str, name: str, **fields: Unpack[PageFields]) -> Callable[[View], View]:
        """Declare rows that only the API has; `fields` are fields of `Page`."""
        return self._declare(route, name, (), {**fields, "api": ROWS})

    def _declare(
        self, route: str, name: str, methods: tuple[str, ...], fields: PageFields
    ) -> Callable[[View], View]:
        page = replace(self.page, methods=methods, **fields)

        def declared(view: View) -> View:
            # A view of two addresses: each has its own access, and neither asks the other's.
            view = getattr(view, "unguarded", view)
            answer = page.answer(view)
            pattern = path(self.under + route, answer, name=name)
            if lacking := {*page.access_names().values()} - {*pattern.pattern.converters}:
                raise TypeError(f"The page {name} needs {lacking} in its address, for its access.")
            if page.methods:
                self.urls.append(pattern)
            if page.api:
                self.apis.append(ApiPage(self.under + route, name, page, view))
            return answer

        return declared


def number_of(text: str) -> int | None:
    """Return the whole number in a text, or None if it is missing or too long."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def json_of(text: str) -> object:
    """Return the JSON value of a text, or None if it is malformed or no database holds it."""
    try:
        value = json.loads(text)
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):  # also of an unpaired surrogate
        return None
    return None if r"\u0000" in text else value


def page_of(request: HttpRequest) -> Page:
    """Return the page of a request, or one without access and section if none was declared."""
    match = request.resolver_match
    page = getattr(match.func, "page", None) if match else None
    return page if isinstance(page, Page) else Page()


def lab_and_task(request: HttpRequest) -> dict[str, object]:
    """Return the lab and the task of a page's subject, which every template has."""
    subject, place = getattr(request, "subject", None), {}
    while isinstance(subject, Model):
        place[str(subject._meta.model_name)] = subject
        subject = getattr(subject, "task", None) or getattr(subject, "lab", None)
    return {name: place[name] for name in ("lab", "task") if name in place}
