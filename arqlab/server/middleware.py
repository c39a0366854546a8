"""Middleware: sign-in after a lost session, pages instead of an empty 405, visits, archives."""

import re
import time
from collections.abc import Callable
from functools import partial
from itertools import chain
from uuid import uuid4

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import BadRequest, MiddlewareNotUsed
from django.core.signals import request_finished
from django.db.models import Q
from django.dispatch import receiver
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.middleware.http import ConditionalGetMiddleware
from django.shortcuts import redirect
from django.urls import Resolver404, resolve, reverse
from structlog.contextvars import bind_contextvars, unbind_contextvars

from arqlab.accounts.attempts import NO_PLACE, PATH, WRONG_PASSWORDS, is_form, reached_limit
from arqlab.accounts.hashing import TooManyPasswordsError
from arqlab.accounts.permissions import NO_SECOND_FACTOR, needs_second_factor
from arqlab.accounts.services.sessions import is_use_due, record_session_use
from arqlab.core.caches import AT_ONCE, NotComputedError, computing_at_most
from arqlab.core.errors import error_body
from arqlab.core.models import Lab, Task, Team
from arqlab.core.permissions import observers_pass
from arqlab.core.views import wants_json
from arqlab.core.views.answers import API
from arqlab.core.views.error_pages import (
    SIGNED_OUT,
    form_to_sign_in,
    not_allowed,
    sign_in_url,
    too_many_attempts,
    too_many_passwords,
)
from arqlab.core.visits import Visit, after_visit, write_visit
from arqlab.jobs.views import being_computed, computing_news
from arqlab.labs.permissions import labs_observed_by, labs_visible_to
from arqlab.server.services.metrics import REQUESTS
from arqlab.server.views import health
from arqlab.web import url_of
from arqlab.web.pages import View, page_of

SAFE = ("GET", "HEAD", "OPTIONS")
REFUSAL = "It is archived, so it cannot be changed. Organizers can restore it under Settings."
OBSERVES = "Observers see what organizers see, and change nothing. Ask an organizer to do it."


class _Middleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)


class RequestId(_Middleware):
    """Name each request, as its proxy does, in the log, in its response and in its tasks."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Return the response with its X-Request-ID."""
        sent = request.headers.get("X-Request-ID", "")
        name = sent if re.fullmatch(r"[\w.-]{1,64}", sent, re.ASCII) else uuid4().hex
        bind_contextvars(request_id=name)
        response = self.get_response(request)
        response.headers["X-Request-ID"] = name
        return response


@receiver(request_finished)
def end_request_in_log(**_: object) -> None:
    """Log without the request's name. Django writes the line of a failed one after middleware."""
    unbind_contextvars("request_id")


class HealthCheck(_Middleware):
    """Answer the health checks before anything asks which host they were sent to.

    The checks of Docker and of load balancers name the server by its address, which `ARQLAB_HOSTS`
    does not list.
    """

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Return the answer to a health check, and the response of the view for other paths."""
        return health.VIEWS.get(request.path, self.get_response)(request)


class Measured(_Middleware):
    """Count each request with its view, its status and its seconds, if somebody may ask for it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        if not settings.METRICS_TOKEN:
            raise MiddlewareNotUsed
        super().__init__(get_response)

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Return the response of the view. Static files and unknown paths have no view."""
        started = time.perf_counter()
        response = self.get_response(request)
        view = request.resolver_match.view_name if request.resolver_match else ""
        seconds = time.perf_counter() - started
        REQUESTS.labels(view, response.status_code).observe(seconds)
        return response


class NotStored(_Middleware):
    """Let no browser and no proxy keep what is for one person, on pages and in files.

    Only a page that is declared open to everyone, or an answer of the API, may be kept, and only
    for a visitor who sent neither a cookie nor a token and got no cookie with it.
    """

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Return the response of the view, which is not stored unless it is for everyone."""
        response = self.get_response(request)
        is_known = request.COOKIES or response.cookies or "Authorization" in request.headers
        # Pages that are not declared are those of accounts and of the administration.
        page = getattr(request.resolver_match and request.resolver_match.func, "page", None)
        is_open = request.path.startswith(API) or (page is not None and not page.sign_in)
        if is_known or not is_open or response.status_code != 200:
            response.headers["Cache-Control"] = "private, no-store"
        return response


class Compressed(GZipMiddleware):
    """Compress pages and answers of the API, not files, which are compressed already or large.

    Padding of random length hides how well a secret in a page matches what a visitor can put beside
    it (BREACH); a proxy's compression would have none.
    """

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """Return the response, compressed if its browser reads that."""
        is_text = response.get("Content-Type", "").startswith(("text/html", "application/json"))
        if is_text and not response.streaming:
            return super().process_response(request, response)
        return response


class ApiVersion(_Middleware):
    """Name the version of ArqLab that wrote an answer of the API."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Return the response of the view with its `ArqLab-Version`."""
        response = self.get_response(request)
        if request.path.startswith(API):
            response.headers["ArqLab-Version"] = settings.VERSION
        return response


class ApiETags(ConditionalGetMiddleware):
    """Mark answers of the API, but no pages, so that a program that has one gets 304."""

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """Return the response with its mark, or 304."""
        is_api = request.path.startswith(API) and response.status_code == 200
        return super().process_response(request, response) if is_api else response


class PasswordsWait(_Middleware):
    """Ask who signs in or up to try again later, before anything is written or hashed."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Return the response of the view, 503 for a form that waited too long for its turn, or 429
        for one from an address that has tried too often.
        """
        if not is_form(str(request.method), request.path):
            return self.get_response(request)
        if NO_PLACE in request.META:
            return too_many_passwords(request)
        if reached := reached_limit(request):
            is_wrong = reached.limit == WRONG_PASSWORDS
            return too_many_attempts(request, seconds=reached.seconds, wrong_passwords=is_wrong)
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Return 503 for a password that waited too long to be hashed."""
        return too_many_passwords(request) if isinstance(error, TooManyPasswordsError) else None


class NoNul(_Middleware):
    """Refuse the character NUL in addresses and forms: PostgreSQL stores and compares no such text.

    The API checks what it is sent itself.
    """

    def process_view(
        self, request: HttpRequest, view_func: View, *_: object
    ) -> HttpResponse | None:
        """Raise `Http404` for a path, and `BadRequest` for a field, that has one."""
        if "\0" in request.path:
            raise Http404
        is_api = getattr(view_func, "csrf_exempt", False)
        sent = (request.GET,) if is_api else (request.GET, request.POST)
        for name, values in chain.from_iterable(fields.lists() for fields in sent):
            if any("\0" in text for text in (name, *values)):
                raise BadRequest(f"The field {name[:80]!a} has the character NUL.")
        return None


class SignInMiddleware(_Middleware):
    """Redirect actions of signed-out users to the sign-in page, and from there to their form.

    Views that check sign-ins themselves are marked as Django's `login_not_required` does. Pages may
    be open to everyone; actions never are.
    """

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Return the response of the view, or what takes its place after a lost session."""
        return self._after_view(request, self.get_response(request))

    def process_view(
        self, request: HttpRequest, view_func: View, *_: object
    ) -> HttpResponse | None:
        """Refuse an action of a signed-out user."""
        is_open = request.method in SAFE or not getattr(view_func, "login_required", True)
        return None if is_open or request.user.is_authenticated else form_to_sign_in(request)

    def _after_view(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
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


class UserCookie(_Middleware):
    """Name the signed-in user in a cookie, which a service worker can read offline.

    The worker serves only pages that were stored for this user (docs/adr/0024).
    """

    NAME = "arqlab_user"

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Return the response of the view; its cookie names the user who is signed in after it."""
        response = self.get_response(request)
        cookies = request.COOKIES
        # A visitor without cookies costs nothing, and their pages stay the same for all.
        is_known = {self.NAME, settings.SESSION_COOKIE_NAME} & cookies.keys()
        if not is_known and not request.session.modified:
            return response
        if response.status_code >= 500:  # asking for the user may fail again
            return response
        user = str(request.user.pk or "")
        if user == cookies.get(self.NAME, ""):
            return response
        if not user:
            response.delete_cookie(self.NAME)
            return response
        is_kept = not request.session.get_expire_at_browser_close()
        response.set_cookie(
            self.NAME,
            user,
            max_age=settings.SESSION_COOKIE_AGE if is_kept else None,
            secure=settings.SESSION_COOKIE_SECURE,
            samesite="Lax",
        )
        return response


class NotAllowedMiddleware(_Middleware):
    """Redirect a GET request for an address that takes only POST to the page above it.

    This happens when someone reloads or bookmarks the address of an action, or signs in to it.
    Other methods that a page does not take get an error page.
    """

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


class ComputedLater(_Middleware):
    """Leave to a job what takes longer than a page may compute, except forms and actions."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Return the response of the view, or what the page of a job asks for."""
        if request.method not in SAFE:
            return self.get_response(request)
        if key := request.headers.get("HX-Request") and request.GET.get("computing"):
            return computing_news(key)
        with computing_at_most(AT_ONCE):
            return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Return the page of what is being computed."""
        return being_computed(request, error.key) if isinstance(error, NotComputedError) else None


class VisitMiddleware(_Middleware):
    """Write what a visit changes after the page was made; making the page only reads."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer the request."""
        response = self.get_response(request)
        write_visit(request)
        return response


class UsedSessions(_Middleware):
    """Record the use of a session once an hour, after the page was made."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Return the response of the view."""
        response = self.get_response(request)
        if response.status_code < 500 and is_use_due(request):
            after_visit(request, Visit.SESSION, partial(record_session_use, request))
        return response


class SecondFactor(_Middleware):
    """Lead organizers and administrators without a second factor to the page that sets it up."""

    def process_view(
        self, request: HttpRequest, view: View, args: object, kwargs: dict[str, str]
    ) -> HttpResponse | None:
        """Refuse all pages but those of accounts."""
        if (
            request.path.startswith(PATH)
            or checks_itself(view)
            or not needs_second_factor(request.user)
        ):
            return None
        if wants_json(request):
            return JsonResponse(error_body(NO_SECOND_FACTOR, "no-second-factor"), status=403)
        messages.info(request, NO_SECOND_FACTOR)
        return redirect("mfa_activate_totp")


def checks_itself(view: View) -> bool:
    """Return whether a view of the API says that its own queries refuse what is archived, and who
    lacks a second factor: judging has no time for another query, and its page understands 404.
    """
    return bool(getattr(getattr(view, "cls", None), "checks_itself", False))


class Observers(_Middleware):
    """Shows observers of a lab what organizers see, and says why they cannot change it."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Return the response of the view, or a refusal instead of 404 if an observer asked."""
        is_safe = request.method in SAFE
        with observers_pass(is_safe):
            response = self.get_response(request)
        match = request.resolver_match
        if is_safe or response.status_code != 404 or match is None or checks_itself(match.func):
            return response
        slug = match.kwargs.get("lab", "")
        if not labs_observed_by(request.user).filter(slug=slug).exists():
            return response
        return _refused(request, slug, OBSERVES, code="observer", status=403)


class ReadOnlyArchives(_Middleware):
    """Refuses requests that would change an archived lab or task."""

    def process_view(
        self, request: HttpRequest, view: View, args: object, kwargs: dict[str, str]
    ) -> HttpResponse | None:
        """Refuse a request to an archived lab or task that the user may see."""
        if request.method in SAFE:
            return None
        slug = kwargs.get("lab") or _lab_of_invitation(request, kwargs)
        if slug is None:
            return None
        if page_of(request).in_archive or checks_itself(view):
            return None
        if not is_archived(slug, kwargs.get("task", "")):
            return None
        if not labs_visible_to(request.user).filter(slug=slug).exists():
            return None  # the view answers 404
        return _refused(request, slug, REFUSAL, code="archived", status=409)


def _refused(request: HttpRequest, lab: str, text: str, *, code: str, status: int) -> HttpResponse:
    """Return a refusal: JSON to a client of the API, and the page of the lab with it to others."""
    name = str(request.resolver_match and request.resolver_match.view_name)
    if not request.accepts("text/html") or ":api-" in name:
        return JsonResponse(error_body(text, code), status=status)
    messages.error(request, text)
    return redirect(url_of("lab", lab=lab))


def _lab_of_invitation(request: HttpRequest, kwargs: dict[str, str]) -> str | None:
    """Return the address of the lab whose team the request joins, or None."""
    match = request.resolver_match
    if match is None or match.view_name != "teams:team-join":
        return None
    teams = Team.objects.filter(invitation_token=kwargs["token"])
    return teams.values_list("lab__slug", flat=True).first()


def is_archived(lab: str, task: str) -> bool:
    """Return whether a lab, or the task in it, is archived."""
    archived = Q(archived_at__isnull=False) | Q(
        tasks__in=Task.objects.filter(slug=task, archived_at__isnull=False)
    )
    return Lab.objects.filter(archived, slug=lab).exists()
