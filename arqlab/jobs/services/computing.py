"""Pages that take longer to compute than a page may (`AT_ONCE`): a job makes them once, as their
visitor would, and leaves what it computed in the cache.

Every page, file and answer of the API asks the same: `cached_value` raises `NotComputedError`, a
middleware shows that the page is computed, and the limits here say how much one visitor may ask.
"""

from contextlib import suppress
from datetime import datetime, timedelta
from typing import NamedTuple

from django.contrib.auth.models import AnonymousUser
from django.http import Http404, HttpRequest, QueryDict
from django.urls import resolve

from arqlab.core.errors import UserError
from arqlab.core.models import Job, User, Visitor
from arqlab.jobs.services.jobs import RunningJob, start_job

KIND = "page"
MOST_AT_ONCE = 3
"""The most pages that are computed for one visitor at once."""
MOST_AN_HOUR = 60
"""The most pages that are computed for an address within an hour, without a sign-in."""
MOST_WAITING = 20
"""The most pages that are computed at once for all who did not sign in."""
KEPT = timedelta(days=1)
FAILED_FOR = timedelta(minutes=5)
"""How long a page that failed is not computed again."""
RUNNING = (Job.State.WAITING, Job.State.RUNNING)


class AskedPage(NamedTuple):
    """The page that a visitor at an address asks for, and the key of the value that it lacks."""

    key: str
    path: str
    query: str
    host: str
    user: Visitor
    address: str

    @property
    def visitor(self) -> str:
        """Return the name under which the pages of the visitor are counted."""
        return f"user {self.user.pk}" if self.user.is_authenticated else f"address {self.address}"


def computing_job(key: str) -> Job | None:
    """Return the last job that computes the value with a key in the cache."""
    return Job.objects.filter(kind=KIND, key=key).first()


def require_turn(asked_page: AskedPage, *, at: datetime) -> None:
    """Raise `UserError` if a page is not computed for a visitor now: `failed`, `busy` or `often`.

    Whoever asks for what is being computed anyway only waits for it.
    """
    job = computing_job(asked_page.key)
    if job and job.state in RUNNING:
        return
    if job and job.state == Job.State.FAILED and job.updated_at > at - FAILED_FOR:
        raise UserError(job.message, code="failed")
    jobs = Job.objects.filter(kind=KIND)
    mine = jobs.filter(options__visitor=asked_page.visitor)
    visitors = jobs.filter(by=None, state__in=RUNNING)
    if mine.filter(state__in=RUNNING).count() >= MOST_AT_ONCE:
        raise UserError(
            f"ArqLab computes {MOST_AT_ONCE} other pages for you. Reload this page when they are "
            "ready.",
            code="busy",
        )
    if asked_page.user.is_authenticated:
        return
    if mine.filter(created_at__gt=at - timedelta(hours=1)).count() >= MOST_AN_HOUR:
        raise UserError(
            f"ArqLab has computed {MOST_AN_HOUR} pages for your address within an hour. Sign in, "
            "or come back later.",
            code="often",
        )
    if visitors.count() >= MOST_WAITING:
        raise UserError(
            "ArqLab computes pages for many other visitors. Sign in, or reload this page in a "
            "minute.",
            code="busy",
        )


def start_computing(asked_page: AskedPage, *, at: datetime) -> Job:
    """Store a job that makes the page, unless one waits or runs; the caller queues it."""
    over = Job.objects.filter(kind=KIND, updated_at__lt=at - KEPT).exclude(state__in=RUNNING)
    over.delete()
    by = User.objects.filter(pk=asked_page.user.pk or 0).first()
    facts = {name: getattr(asked_page, name) for name in ("path", "query", "host", "visitor")}
    return start_job(
        job=Job(kind=KIND, key=asked_page.key, options=facts), place=None, at=at, by=by
    )


def compute_page(job: RunningJob) -> list[str]:
    """Make the page of a job for its visitor, who may have lost it since, and drop it."""
    options, request = job.job.options, HttpRequest()
    request.method, request.path, request.path_info = "GET", options["path"], options["path"]
    request.GET = QueryDict(options["query"])
    request.META = {"HTTP_HOST": options["host"], "QUERY_STRING": options["query"]}
    request.user = job.job.by or AnonymousUser()
    request.resolver_match = match = resolve(options["path"])
    # The page may have been deleted, or closed to the visitor, since it was asked for.
    with suppress(Http404):
        match.func(request, *match.args, **match.kwargs)
    return []
