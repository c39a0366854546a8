"""Settings that contradict each other: no process that sets up Django starts with them, whether it
is a server, a worker, beat, a command or a WSGI server of another kind (arqlab/core/apps.py).

Each error names the variable, what was found and expected, and what to do (docs/settings.md).
"""

import re
import sys
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import Error, register
from django.core.exceptions import ImproperlyConfigured
from django.http.request import validate_host

KEY_LENGTH = 50
DIFFERENT_SIGNS = 5
"""Both are what Django's own check of a deployment (security.W009) expects."""
PLACEHOLDER = "change-me"
"""How the secrets of .env.example begin, which everybody can read."""
BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")


@register
def check_settings(app_configs: Sequence[AppConfig] | None, **_: object) -> list[Error]:
    """Return an error for each contradiction, all at once."""
    return [*_secrets(), *_public_server(), *_services(), *_addresses()]


def _secrets() -> Iterator[Error]:
    key = _key()
    if len(key) < KEY_LENGTH or len(set(key)) < DIFFERENT_SIGNS:
        yield _error(
            "key",
            f"ARQLAB_SECRET_KEY has {len(key)} characters, {len(set(key))} of them different. "
            f"Expected: {KEY_LENGTH} random characters.",
            "Set it to what `python -c 'import secrets; print(secrets.token_urlsafe(50))'` prints, "
            "the same for all processes. With a new key, everybody signs in again.",
        )
    if (urlsplit(settings.DATABASE_URL).password or "").startswith(PLACEHOLDER):
        yield _error(
            "database-password",
            "The password of the database is that of .env.example, which everybody can read. "
            "Expected: a password of your own.",
            "Set POSTGRES_PASSWORD, or the password in DATABASE_URL, to what `python -c 'import "
            "secrets; print(secrets.token_urlsafe(20))'` prints. If the database exists already, "
            "change it there too: ALTER USER arqlab PASSWORD '...'.",
        )


def _public_server() -> Iterator[Error]:
    if settings.HTTPS and not settings.PROXIES:
        yield _error(
            "proxies",
            "ARQLAB_HTTPS is 1, but ARQLAB_PROXIES is 0. Expected: at least 1, because HTTPS ends "
            "at a proxy; without their number, all visitors share one limit of wrong passwords.",
            "Set ARQLAB_PROXIES to the number of proxies, mostly 1. If visitors reach this server "
            "itself, set ARQLAB_HTTPS to 0.",
        )
    if settings.HTTPS and settings.DEBUG:
        yield _error(
            "debug",
            "ARQLAB_DEBUG and ARQLAB_HTTPS are 1. Expected: no debug mode on a public server, "
            "because its error pages show settings and data to everybody.",
            "Set ARQLAB_DEBUG to 0.",
        )
    url = settings.SITE_URL
    host, hosts = urlsplit(url).hostname or "", ",".join(settings.ALLOWED_HOSTS)
    # A proxy may ask for another host than its visitors do.
    if not settings.PROXIES and not validate_host(host, settings.ALLOWED_HOSTS):
        yield _error(
            "hosts",
            f"Links in email lead to {url}, but ARQLAB_HOSTS is {hosts!r}. Expected: a host that "
            "this server answers to.",
            f"Set ARQLAB_URL to the address that visitors use, or add {host} to ARQLAB_HOSTS.",
        )


def _services() -> Iterator[Error]:
    if settings.EMAIL_URL and urlsplit(settings.EMAIL_URL).scheme != "smtp":
        yield _error(
            "email",
            "EMAIL_URL does not begin with smtp://. Expected: smtp://user:password@host:587.",
            "Correct it, or remove it to send no email. TLS is chosen by the port: 587 or 465.",
        )
    if settings.S3_BUCKET and not BUCKET.fullmatch(settings.S3_BUCKET):
        yield _error(
            "bucket",
            f"ARQLAB_S3_BUCKET is {settings.S3_BUCKET!r}. Expected: the name of a bucket alone, of "
            "3 to 63 lower-case letters, digits, dots and hyphens.",
            "Correct it. The address of the object storage is AWS_ENDPOINT_URL_S3, and its region "
            "AWS_DEFAULT_REGION.",
        )
    if not settings.GENERATION_URL and (settings.GENERATION_MODEL or settings.GENERATION_KEY):
        yield _error(
            "generation",
            "ARQLAB_GENERATION_MODEL or ARQLAB_GENERATION_KEY is set, but ARQLAB_GENERATION_URL is "
            "empty. Expected: all of them, or none.",
            "Set ARQLAB_GENERATION_URL to the address of the API, or remove the others.",
        )


def _addresses() -> Iterator[Error]:
    addresses = [settings.SITE_URL, *settings.CSRF_TRUSTED_ORIGINS] if settings.HTTPS else []
    for url in dict.fromkeys(addresses):
        if urlsplit(url).scheme != "https":
            yield _error(
                "scheme",
                f"ARQLAB_HTTPS is 1, but this server's address is {url} (ARQLAB_URL, else the "
                "first of ARQLAB_ORIGINS). Expected: https://, as in the links of email and in "
                "forms.",
                "Set ARQLAB_URL or ARQLAB_ORIGINS to the address that visitors use, such as "
                "https://lab.example.org.",
            )


def _error(name: str, problem: str, todo: str) -> Error:
    return Error(problem, hint=todo, id=f"arqlab.{name}")


def require_consistent_settings() -> None:
    """End this process with a message about all contradictions, if there are any."""
    if errors := check_settings(None):
        lines = "\n\n".join(map(str, errors))
        sys.exit(f"ArqLab does not start, because its settings contradict each other:\n\n{lines}")


def _key() -> str:
    try:
        return settings.SECRET_KEY
    except ImproperlyConfigured:  # Django's words for an empty key
        return ""
