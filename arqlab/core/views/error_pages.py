"""The answers to failed requests: what happened, and what to do next.

Browsers get a page, and the API and scripts get JSON with the same sentences (`error_body`). A page
needs no database and no session, so it also works when those fail.
"""

import sys
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from allauth.core.exceptions import ReauthenticationRequired
from django.contrib import messages
from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.middleware import csrf
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.log import log_response
from rest_framework import exceptions
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import exception_handler
from structlog.contextvars import get_contextvars

from arqlab.core.errors import RequestProblem, UserError, error_body
from arqlab.core.faults import is_database_lost, is_disk_full
from arqlab.core.views.answers import wants_json
from arqlab.web import url_of

CODES = {
    400: "malformed",
    403: "permission-denied",
    404: "not-found",
    405: "method-not-allowed",
    409: "refused",
    413: "too-large",
    429: "throttled",
    500: "server-error",
    503: "busy",
    507: "disk-full",
}
"""The code for programs that an error page has as JSON, by its status."""
API_CODES = {
    "authentication_failed": "signed-out",
    "error": "malformed",
    "not_authenticated": "signed-out",
    "parse_error": "malformed",
}
"""The codes of the REST framework that have another name here; in others, `_` becomes `-`."""
API_MESSAGES = {
    "csrf": "The request has no valid CSRF token, so nothing was changed. Programs sign in with an "
    "API token instead of a cookie.",
    "invalid": "The request is not valid, so nothing was changed. Correct what `errors` lists.",
    "malformed": "ArqLab could not read this request, so nothing was changed: {detail}",
    "not-found": "There is nothing at this address, or you do not have permission to see it. Check "
    "the address and sign in with an API token.",
    "signed-out": "You are not signed in. Send an API token, which you can create on your account "
    "page.",
}
"""The messages of errors in the API by code. A view may have its own in `error_messages`."""
SIGNED_OUT = "You are signed out. Sign in to continue."
NOT_SAVED = "You are signed out, so nothing was saved. Sign in to return to the form."


class ErrorText(NamedTuple):
    """The sentences about a failed request."""

    title: str
    happened: str
    todo: str


class ErrorLink(NamedTuple):
    """A link on an error page."""

    label: str
    url: str


TOO_MANY = ErrorText(
    "Too many attempts",
    "There were too many attempts in a short time, so this one was not carried out.",
    "Wait a few minutes, then try again.",
)


def error_response(
    request: HttpRequest, text: ErrorText, *, status: int, links: tuple[ErrorLink, ...] = ()
) -> HttpResponse:
    """Return the page of an error, or the same sentences as JSON."""
    if wants_json(request):
        body = error_body(f"{text.happened} {text.todo}", CODES[status])
        return JsonResponse(body, status=status)
    # Without the request, so that no context processor asks the database.
    context: dict[str, object] = {"text": text, "links": links}
    if status == 500:
        context["reference"] = get_contextvars().get("request_id")
    page = render_to_string("error.html", context)
    return HttpResponse(page, status=status)


def page_of_form(request: HttpRequest) -> str:
    """Return the path of the page whose form was sent: the referring page if it is on this site."""
    referrer, host = request.headers.get("Referer", ""), request.get_host()
    if url_has_allowed_host_and_scheme(referrer, {host}, require_https=request.is_secure()):
        return urlsplit(referrer)._replace(scheme="", netloc="", fragment="").geturl() or "/"
    return request.get_full_path()


def sign_in_url(path: str) -> str:
    """Return the URL of the sign-in page that leads back to a path."""
    return f"{reverse('account_login')}?{urlencode({'next': path}, safe='/')}"


def form_to_sign_in(request: HttpRequest) -> HttpResponse:
    """Redirect to the sign-in page and back to the form (keep-forms.js); for a script, 401."""
    url = sign_in_url(page_of_form(request))
    message = NOT_SAVED if request.method == "POST" else SIGNED_OUT
    if wants_json(request):
        return JsonResponse(error_body(message, "signed-out") | {"sign_in": url}, status=401)
    messages.info(request, message)
    return redirect(url)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return 400, or 413 for a form that is too large."""
    if isinstance(exception, (RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent)):
        text = ErrorText(
            "Too much data",
            "The form or its files are larger than the server accepts, so nothing was saved.",
            "Go back and shorten the text, or save it in several steps. Send fewer or smaller "
            "files.",
        )
        return error_response(request, text, status=413)
    text = ErrorText(
        "Bad request",
        "ArqLab could not read this request, so nothing was changed.",
        "Go back, reload the page and try again.",
    )
    return error_response(request, text, status=400)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return 403."""
    text = ErrorText(
        "Permission denied",
        "You do not have permission to do this, so nothing was changed.",
        "If you think you should, ask an organizer of the lab.",
    )
    return error_response(request, text, status=403, links=_all_labs(request))


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return 404."""
    todo = "Check the address, or start from the list of labs."
    if not request.user.is_authenticated:
        todo = (
            "Check the address, or sign in: some pages are only for people with a role in the lab."
        )
    text = ErrorText(
        "Page not found", "This page does not exist, or you do not have permission to see it.", todo
    )
    return error_response(request, text, status=404, links=_all_labs(request))


def not_allowed(request: HttpRequest, refused: HttpResponse) -> HttpResponse:
    """Return 405 with the methods that `refused` allows."""
    links = (ErrorLink("Open the page", request.path),)
    text = ErrorText(
        "Action not available",
        "This page cannot do what was requested, so nothing was changed.",
        "Open the page and use its buttons.",
    )
    page = error_response(request, text, status=405, links=links)
    page["Allow"] = refused["Allow"]
    return page


def too_many_requests(request: HttpRequest) -> HttpResponse:
    """Return 429."""
    return error_response(request, TOO_MANY, status=429)


def too_many_attempts(request: HttpRequest, *, seconds: int, wrong_passwords: bool) -> HttpResponse:
    """Return 429 for a form from an address that may send it again after so many seconds."""
    back = ErrorLink("Return to the form", page_of_form(request))
    if not wrong_passwords:
        return _later(request, TOO_MANY, 429, seconds=seconds, links=(back,))
    text = ErrorText(
        "Too many wrong passwords",
        "Too many wrong passwords from your address. This one was not checked.",
        "Wait a minute and try again; with each further wrong password you wait longer. If you "
        "forgot your password, reset it.",
    )
    reset = ErrorLink("Reset your password", reverse("account_reset_password"))
    return _later(request, text, 429, seconds=seconds, links=(back, reset))


def too_many_passwords(request: HttpRequest) -> HttpResponse:
    """Return 503, and after how many seconds a turn is likely to be free."""
    links = (ErrorLink("Return to the form", page_of_form(request)),)
    text = ErrorText(
        "Many people are signing in",
        "The server checks few passwords at a time, so yours was not checked and nothing was "
        "changed.",
        "Wait a few seconds, then send the form again.",
    )
    page = _later(request, text, 503, seconds=5, links=links)
    # Django would log an error of ours.
    log_response("Wait: %s", request.path, response=page, request=request, level="warning")
    return page


def not_now(request: HttpRequest, refused: UserError, *, seconds: int) -> HttpResponse:
    """Return 429, or 503 for what failed, with the reason, for a page that is not computed now."""
    text = ErrorText("Try again later", refused.message, "")
    return _later(request, text, 503 if refused.code == "failed" else 429, seconds=seconds)


def server_error(request: HttpRequest) -> HttpResponse:
    """Return 500 for a mistake of ours, 503 without a database, and 507 without room on the disk.

    Django calls it where an error is caught, also one of a middleware.
    """
    error = sys.exception()
    if is_database_lost(error):
        text = ErrorText(
            "The database is not available",
            "ArqLab cannot reach its database at the moment. Everything you saved before is safe, "
            "but what you sent last may not be saved.",
            "Wait a minute and reload the page. Check whether your last change is there.",
        )
        return _later(request, text, 503, seconds=10)
    if is_disk_full(error):
        text = ErrorText(
            "The disk is full",
            "The server has no room left to store this, so nothing was saved.",
            "Tell an organizer, and try again when they have made room. Pages still open as usual.",
        )
        return _later(request, text, 507, seconds=300)
    text = ErrorText(
        "Something went wrong",
        "The error is on our side and has been logged. Everything you saved before is safe.",
        "Try again in a minute. If the error persists, tell an organizer what you did and when.",
    )
    return error_response(request, text, status=500)


def _later(
    request: HttpRequest, text: ErrorText, status: int, *, seconds: int, **fields: Any
) -> HttpResponse:
    """Return the page of a request that may be sent again after so many seconds."""
    page = error_response(request, text, status=status, **fields)
    page["Retry-After"] = str(seconds)
    return page


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Return 403 for a form without a valid CSRF token, with a link to the form.

    A user who is signed out signs in first. One who sends the sign-in form twice is signed in.
    """
    match, is_signed_in = request.resolver_match, request.user.is_authenticated
    if match and match.url_name == "account_login" and is_signed_in:
        return redirect(url_of("home"))
    if match and not is_signed_in and getattr(match.func, "login_required", True):
        return form_to_sign_in(request)
    if reason.startswith(("Origin checking failed", "Referer checking failed")):
        text = ErrorText(
            "This form comes from another site",
            "Your browser reports that the form was not opened on this site, so nothing was saved.",
            "Open the form in ArqLab. If you did, tell an organizer: the server’s setting "
            "ARQLAB_ORIGINS may lack this address.",
        )
    elif reason == csrf.REASON_NO_CSRF_COOKIE:
        text = ErrorText(
            "Cookies are blocked",
            "Your browser did not send ArqLab’s cookies, so nothing was saved.",
            "Allow cookies for this site, reload the form and submit it again.",
        )
    else:
        text = ErrorText(
            "This form is out of date",
            "You have signed in again since you opened it, perhaps in another tab. Nothing was "
            "saved.",
            "Return to the form. It contains your entries; check them and submit it again.",
        )
    back = ErrorLink("Return to the form", page_of_form(request))
    return error_response(request, text, status=403, links=(back,))


def api_exception_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    """Return the JSON of an error, or None for an error of ours, which `server_error` answers.

    A `UserError` has the status 409, or that of its code in the `error_statuses` of the view.
    """
    request, view = context["request"], context["view"]
    # Whatever the view renders, and whatever the client accepts.
    request.accepted_renderer, request.accepted_media_type = JSONRenderer(), "application/json"
    if isinstance(error, ReauthenticationRequired):
        message = (
            "Only a person who has just confirmed the password may do this, so nothing was "
            "changed. Sign in, open the page of this action and confirm your password there."
        )
        return Response(error_body(message, "identity"), status=403)
    if isinstance(error, UserError):
        status = getattr(view, "error_statuses", {}).get(error.code, 409)
        return Response(error_body(error.message, error.code, error.problems), status=status)
    response = exception_handler(error, context)
    if response is None:
        return None
    detail, code, problems = "", _api_code(error), []
    if isinstance(error, exceptions.ValidationError):
        problems = list(_invalid_fields(error.detail, request))
    elif isinstance(error, exceptions.APIException):
        detail = str(error.detail)
    messages = API_MESSAGES | getattr(view, "error_messages", {})
    message = messages.get(code, "{detail}").format(detail=detail)
    response.data = error_body(message, code, problems)
    return response


def _api_code(error: Exception) -> str:
    """Return the code for programs of an error that the REST framework answers."""
    if isinstance(error, Http404):
        return CODES[404]
    if not isinstance(error, exceptions.APIException):
        return CODES[403]
    if str(error.detail).startswith("CSRF Failed"):
        return "csrf"
    return API_CODES.get(error.default_code, error.default_code.replace("_", "-"))


def _invalid_fields(detail: object, request: Request, field: str = "") -> Iterator[RequestProblem]:
    """Yield the problems of a request that a serializer refused, with what was sent."""
    if isinstance(detail, dict):
        for name, problems in detail.items():
            yield from _invalid_fields(problems, request, field or str(name))
    elif isinstance(detail, list):
        for problem in detail:
            yield from _invalid_fields(problem, request, field)
    else:
        sent = str(request.data.get(field, "")) if isinstance(request.data, Mapping) else ""
        actual = sent.replace("\0", "")[:80] or "nothing"
        todo = "Correct this field and send the request again."
        yield RequestProblem(None, field, actual, str(detail), todo)


def _all_labs(request: HttpRequest) -> tuple[ErrorLink, ...]:
    """Return a link to all labs, and for visitors one to sign in and come back."""
    labs = ErrorLink("See all labs", url_of("labs"))
    if request.user.is_authenticated:
        return (labs,)
    return (labs, ErrorLink("Sign in", sign_in_url(request.get_full_path())))
