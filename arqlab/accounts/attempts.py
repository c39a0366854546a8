"""Forms of accounts, such as the one to sign in: their limits by address, and their queue."""

import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple
from wsgiref.types import WSGIEnvironment

from allauth.core.internal.ratelimit import get_cache_key, get_ip, get_rates
from django.core.cache import cache
from django.core.exceptions import ImproperlyConfigured, PermissionDenied
from django.http import HttpRequest
from django.urls import reverse

from arqlab.accounts.hashing import Places

PATH = "/accounts/"
"""The path of all forms with passwords of allauth (arqlab/urls.py)."""
NO_PLACE = "arqlab.no-place"
"""The variable of a request that found no place for its form."""
WRONG_PASSWORDS = "login_failed"
LIMITS = {
    "account_login": ("login", WRONG_PASSWORDS),
    "account_reauthenticate": (WRONG_PASSWORDS,),
    "account_signup": ("signup",),
    "account_reset_password": ("reset_password",),
}
"""The limits of an address by the page of a form, as allauth names them."""


class TooSoon(NamedTuple):
    """The limit that an address has reached, and the seconds until it may try again."""

    limit: str
    seconds: int


def is_form(method: str, path: str) -> bool:
    """Return whether a request sends a form of an account, which may have a password."""
    return method not in ("GET", "HEAD", "OPTIONS") and path.startswith(PATH)


def reached_limit(request: HttpRequest) -> TooSoon | None:
    """Return the limit that the address of a form has reached, or None.

    allauth asks the same and counts, but in writes to the database, under a lock for each address.
    """
    for page, limits in LIMITS.items():
        for limit in limits if request.path == reverse(page) else ():
            for rate in get_rates(app="allauth.account", action=limit):
                if rate.per != "ip":
                    continue
                key = get_cache_key(request, app="allauth.account", action=limit, rate=rate)
                times = cache.get(key, [])  # newest first
                if len(times) < rate.amount:
                    continue
                seconds = times[rate.amount - 1] + rate.duration - time.time()
                if seconds > 0:
                    return TooSoon(limit, int(seconds) + 1)
    return None


class PasswordForms:
    """The queue of forms in front of the threads of a process (`arqlab.asgi.WaitingLine`)."""

    def __init__(self, threads: int) -> None:
        self.places = Places(threads)

    def takes(self, environ: WSGIEnvironment) -> bool:
        """Return whether a request sends a form of an account."""
        return is_form(environ["REQUEST_METHOD"], environ["PATH_INFO"])

    async def enter(self, environ: WSGIEnvironment) -> Callable[[], None]:
        """Wait for a place, or mark the request as one without a place, which gets a short answer.

        Return the function that leaves the place.
        """
        address = client_address(environ)
        if await self.places.enter(address):
            return partial(self.places.leave, address)
        environ[NO_PLACE] = True
        return lambda: None


def client_address(environ: dict[str, object]) -> str:
    """Return the address of a client, as limits count it, or of the proxy if it names none."""
    request = HttpRequest()
    request.META = environ
    try:
        return str(get_ip(request))
    except (PermissionDenied, ImproperlyConfigured):
        return str(environ["REMOTE_ADDR"])
