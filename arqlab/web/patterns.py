"""The addresses of an app: those of its pages, and those where the API has their files and rows.

This is apart from `arqlab.web.pages`, because the framework of the API imports models.
"""

from dataclasses import replace
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import TypedDict

from django.http.response import HttpResponseBase
from django.urls import URLPattern, URLResolver, include, path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotAuthenticated
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.views import APIView

from arqlab.apps import LabApp
from arqlab.web.pages import FILE, READ, ROWS, Page, Pages, View

API = "api/v1/"
QUERY_TYPES = {"page": OpenApiTypes.INT, "since": OpenApiTypes.DATETIME}
"""The types of parameters that are not any text, in the schema of the API."""


class RowsSerializer(serializers.Serializer[object]):
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


class PageSchema(TypedDict, total=False):
    """What the schema of the API says of a page."""

    responses: object
    parameters: list[OpenApiParameter]


def _schema_of(page: Page) -> PageSchema:
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


def _api_of(page: Page, view: View, name: str) -> View:
    """Return the view of the API that answers with the file of a page, also for a token."""

    class PageApi(APIView):
        def perform_content_negotiation(
            self, request: Request, force: bool = False
        ) -> tuple[BaseRenderer, str]:
            """Answer with a file, whatever the client accepts."""
            if page.api == ROWS and "format" not in request.query_params:
                return super().perform_content_negotiation(request, force=force)
            return super().perform_content_negotiation(request, force=True)

        @extend_schema(
            operation_id=name.replace("-", "_"), description=view.__doc__, **_schema_of(page)
        )
        def get(self, request: Request, **kwargs: object) -> HttpResponseBase:
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
    declared: list[Pages] = [module.pages for module in modules if hasattr(module, "pages")]
    patterns = [pattern for pages in declared for pattern in pages.urls]
    for api in (api for pages in declared for api in pages.apis):
        handler = _api_of(api.page, api.view, api.name)
        patterns.append(path(API + api.route, handler, name=f"api-{api.name}"))
    return sorted(patterns, key=_placeholders)


def patterns_of(app: LabApp) -> URLResolver:
    """Return the addresses of an app: those of its module `urls`, or else of its pages."""
    if (Path(app.path) / "urls.py").exists():
        return path("", include(f"{app.name}.urls"))
    return path("", include((pages_in(app.name), app.label)))


def _placeholders(pattern: URLPattern) -> list[int]:
    """Return 0 for each literal part of an address, 1 for a placeholder and 2 for a path."""
    parts = str(pattern.pattern).split("/")
    return [2 if "<path:" in part else int("<" in part) for part in parts]
