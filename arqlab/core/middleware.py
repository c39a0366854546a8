"""Middleware: what browsers get where Django answers with an empty page."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.urls import Resolver404, resolve

from arqlab.core.views.error_pages import not_allowed

GetResponse = Callable[[HttpRequest], HttpResponse]


class NotAllowedMiddleware:
    """Redirect a GET request for an address that takes only POST to the page above it.

    This happens when someone reloads or bookmarks the address of an action, or signs in to it.
    Other methods that a page does not take get an error page.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Return the response of the view, or what takes the place of an empty 405."""
        response = self.get_response(request)
        if not isinstance(response, HttpResponseNotAllowed):
            return response
        if request.method in ("GET", "HEAD") and "GET" not in response["Allow"]:
            return redirect(page_above(request.path))
        return not_allowed(request, response)


def page_above(path: str) -> str:
    """Return the nearest path above `path` that has a view; the home page is above all."""
    parts = path.rstrip("/").split("/")
    while len(parts) > 1:
        parts.pop()
        above = "/".join([*parts, ""])
        try:
            resolve(above)
        except Resolver404:
            continue
        return above
    return "/"
