"""Middleware: sign-in after a lost session, and pages instead of Django's empty 405."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.urls import Resolver404, resolve, reverse

from arqlab.core.views.error_pages import (
    API,
    SIGNED_OUT,
    form_to_sign_in,
    not_allowed,
    sign_in_url,
    wants_json,
)

SAFE = ("GET", "HEAD", "OPTIONS")
GetResponse = Callable[[HttpRequest], HttpResponse]


class SignInMiddleware:
    """Redirect actions of signed-out users to the sign-in page, and from there to their form.

    Views that check sign-ins themselves are marked as Django's `login_not_required` does. Pages may
    be open to everyone; actions never are.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Return the response of the view, or what takes its place after a lost session."""
        return self.process_response(request, self.get_response(request))

    def process_view(
        self, request: HttpRequest, view_func: Callable[..., Any], *_: Any
    ) -> HttpResponse | None:
        """Refuse an action of a signed-out user."""
        is_open = request.method in SAFE or not getattr(view_func, "login_required", True)
        return None if is_open or request.user.is_authenticated else form_to_sign_in(request)

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        """Replace what a page that needs a sign-in returns to a user who has lost the session.

        A script cannot follow a redirect to the sign-in page, so it gets 401.
        """
        has_view = request.resolver_match is not None and not request.path.startswith(API)
        if request.method not in SAFE or not has_view:
            return response
        is_refused = response.status_code in (403, 404)
        leads_to_sign_in = response.headers.get("Location", "").startswith(reverse("account_login"))
        if not (is_refused or leads_to_sign_in) or request.user.is_authenticated:
            return response
        if wants_json(request):
            return form_to_sign_in(request)
        # Reading the user has removed the key of a session that does not exist any more.
        cookie = request.COOKIES.get(settings.SESSION_COOKIE_NAME)
        if is_refused and cookie and request.session.session_key is None:
            messages.info(request, SIGNED_OUT)
            return redirect(sign_in_url(request.get_full_path()))
        return response


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
