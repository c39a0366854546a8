"""Pages: each declares its address, who may open it, and its section, next to its code."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import wraps
from importlib import import_module
from inspect import signature
from itertools import chain
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

from django.contrib.auth.decorators import login_required
from django.db.models import Model
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import URLPattern, URLResolver, include, path
from django.views.decorators.http import require_http_methods
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotAuthenticated
from rest_framework.request import Request
from rest_framework.views import APIView

from arqlab.apps import LabApp
from arqlab.web.tabs import Tab

API = "api/v1/"
LAB = "labs/<slug:lab>/"
TASK = f"{LAB}tasks/<slug:task>/"
READ = ("GET", "HEAD")
FILE, ROWS = "file", "rows"
QUERY_TYPES = {"page": OpenApiTypes.INT, "since": OpenApiTypes.DATETIME}
"""The types of parameters that are not any text, in the schema of the API."""
View = Callable[..., HttpResponseBase]
ENDS_OF_ARGUMENTS = re.compile(r"(?<!^query)_(?:slug|id|key)$")
"""What arguments say beside the name of a thing: which of its fields the address has."""


@dataclass(frozen=True)
class Page:
    """An address and the view that answers it.

    `access` is asked first, with the user and as many arguments of the address as it takes. It
    returns the subject of the page, such as a task, or raises `Http404`; the template gets its lab
    and task. `section` is the tab that is marked on the page. An action `in_archive` also answers
    in an archived lab or task. A page that `takes_loads` accepts whole labs and collections, up to
    the room on the server. A page with `api` also answers below `API`: with its `FILE`, or with the
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


class Pages:
    """The pages of a module: `urls` are their patterns, in the order in which they were declared.

    The arguments are defaults for every page; all addresses begin with `under`. A declared view
    asks for sign-in, method and access whoever calls it.
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

    def read(self, route: str, name: str, **fields: Any) -> Callable[[View], View]:
        """Declare a page that only reads; `fields` are fields of `Page`."""
        return self._declare(route, name, READ, fields)

    def form(self, route: str, name: str, **fields: Any) -> Callable[[View], View]:
        """Declare a page with a form; `fields` are fields of `Page`."""
        return self._declare(route, name, (*READ, "POST"), fields)

    def action(self, route: str, name: str, **fields: Any) -> Callable[[View], View]:
        """Declare an action of another page; `fields` are fields of `Page`."""
        return self._declare(route, name, ("POST",), fields)

    def rows(self, route: str, name: str, **fields: Any) -> Callable[[View], View]:
        """Declare rows that only the API has; `fields` are fields of `Page`."""
        return self._declare(route, name, (), {**fields, "api": ROWS})

    def _declare(
        self, route: str, name: str, methods: tuple[str, ...], fields: dict[str, Any]
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
                api = _api_of(view, page, name)
                self.urls.append(path(f"{API}{self.under}{route}", api, name=f"api-{name}"))
            return answer

        return declared


class RowsSerializer(serializers.Serializer[Any]):
    """A page of the rows of a table."""

    tables = serializers.ListField(
        child=serializers.CharField(), help_text="The tables of the page; the first is the default."
    )
    count = serializers.IntegerField(help_text="Rows on all pages.")
    next = serializers.CharField(allow_null=True, help_text="Address of the next page.")
    previous = serializers.CharField(allow_null=True)
    results = serializers.ListField(
        child=serializers.DictField(), help_text="The columns of the table's files by their names."
    )


def _schema_of(page: Page) -> dict[str, Any]:
    """Return what the schema of the API says of a page."""
    if page.api == FILE:
        return {"responses": {(200, "*/*"): OpenApiTypes.BINARY}}
    parameters = {
        "page": "Number of the page, from 1.",
        "table": "Name of another table of the page.",
    }
    described = {**parameters, **page.query}
    return {
        "responses": RowsSerializer,
        "parameters": [
            OpenApiParameter(name, QUERY_TYPES.get(name, OpenApiTypes.STR), description=text)
            for name, text in described.items()
        ],
    }


def _api_of(
    view: Callable[..., HttpResponseBase], page: Page, name: str
) -> Callable[..., HttpResponseBase]:
    """Return the view of the API that answers with the file of a page, also for a token."""

    class PageApi(APIView):
        def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
            """Answer with a file, whatever the client accepts."""
            if page.api == ROWS and "format" not in request.query_params:
                return super().perform_content_negotiation(request, force=force)
            return super().perform_content_negotiation(request, force=True)

        @extend_schema(
            operation_id=name.replace("-", "_"), description=view.__doc__, **_schema_of(page)
        )
        def get(self, request: Request, **kwargs: Any) -> HttpResponseBase:
            if page.sign_in and not request.user.is_authenticated:
                raise NotAuthenticated
            plain = request._request
            plain.asks_rows = page.api == ROWS  # type: ignore[attr-defined]
            return page.asked(view)(plain, **kwargs)

    handler = PageApi.as_view()
    handler.page = replace(page, methods=READ, shows="", tabs=())  # type: ignore[attr-defined]
    return handler


def pages_in(package: str) -> list[URLPattern]:
    """Return the patterns of the pages of all modules of views below a package.

    A module of views is named `views`, or is in a package of that name. Where two addresses match,
    the one with the first literal part is asked first: `formulas/by-id/` before
    `formulas/<path:visual_id>/`.
    """
    below = walk_packages(import_module(package).__path__, f"{package}.")
    modules = [import_module(name) for _, name, _ in below if "views" in name.split(".")]
    declared = [module.pages.urls for module in modules if hasattr(module, "pages")]
    return sorted(chain.from_iterable(declared), key=_placeholders)


def patterns_of(app: LabApp) -> URLResolver:
    """Return the addresses of an app: those of its module `urls`, or else of its pages."""
    if (Path(app.path) / "urls.py").exists():
        return path("", include(f"{app.name}.urls"))
    return path("", include((pages_in(app.name), app.label)))


def _placeholders(pattern: URLPattern) -> list[int]:
    """Return 0 for each literal part of an address, 1 for a placeholder and 2 for a path."""
    parts = str(pattern.pattern).split("/")
    return [2 if "<path:" in part else int("<" in part) for part in parts]


def number_of(text: str) -> int | None:
    """Return the whole number in a text, or None if it is missing or too long."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def json_of(text: str) -> Any:
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
