"""Answers of views: to what a service refused, and to scripts that ask for JSON."""

from contextlib import AbstractContextManager
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect

from arqlab.core.errors import ConfirmationError, UserError

API = "/api/"


class told(AbstractContextManager[Any, bool]):  # noqa: N801  # read as a statement: with told(request)
    """Turn a `UserError` into a message; the lines after the block answer the request."""

    def __init__(self, request: HttpRequest) -> None:
        self.request = request

    def __exit__(self, kind: object, error: object, trace: object) -> bool:
        """Return whether the error was told to the user."""
        if isinstance(error, UserError):
            messages.error(self.request, error.message)
            return True
        return False


class refused(AbstractContextManager[Any, bool]):  # noqa: N801  # read as a statement: with refused(form)
    """Turn a `UserError` into an error of a form; the lines after the block show the form.

    `fields` and the form's `error_fields` name the field of an error by its code, that of others
    by ""; without it, they belong to the whole form. An error that can be confirmed sets the form's
    `question`.
    """

    def __init__(self, form: Any, **fields: str) -> None:
        self.form, self.fields = form, {**getattr(form, "error_fields", {}), **fields}

    def __exit__(self, kind: object, error: object, trace: object) -> bool:
        """Return whether the form has the error."""
        if not isinstance(error, UserError):
            return False
        self.form.add_error(self.fields.get(error.code, self.fields.get("")), error.message)
        self.form.question = error.question if isinstance(error, ConfirmationError) else ""
        return True


def wants_json(request: HttpRequest) -> bool:
    """Return whether the API or a script of a page sent the request, and not the browser itself."""
    types = ["text/html", "application/json"]
    return (
        request.path.startswith(API)
        or "HX-Request" in request.headers
        or request.get_preferred_type(types) == "application/json"
    )


def sent_to(request: HttpRequest, location: str) -> HttpResponse:
    """Return the redirect after a form, or its address for a script."""
    return JsonResponse({"location": location}) if wants_json(request) else redirect(location)
