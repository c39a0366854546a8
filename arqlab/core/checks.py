"""Settings that contradict each other: every command and worker refuses to start with them.

Each error names the variable, what was found and expected, and what to do (docs/settings.md).
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import Error, register
from django.core.exceptions import ImproperlyConfigured
from django.http.request import validate_host

KEY_LENGTH = 50
DIFFERENT_SIGNS = 5
"""Both are what Django's own check of a deployment (security.W009) expects."""
BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
Contradiction = tuple[str, str, str]
"""The id of an error, what was found and expected, and what to do."""


@register
def check_settings(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[Error]:
    """Return an error for each contradiction, all at once."""
    contradictions = (*_of_the_key(), *_of_the_proxy(), *_of_addresses(), *_of_services())
    return [
        Error(message, hint=hint, id=f"arqlab.{name}") for name, message, hint in contradictions
    ]


def _of_the_key() -> Iterator[Contradiction]:
    try:
        key = settings.SECRET_KEY
    except ImproperlyConfigured:  # Django's words for an empty key
        key = ""
    if len(key) < KEY_LENGTH or len(set(key)) < DIFFERENT_SIGNS:
        yield (
            "key",
            f"ARQLAB_SECRET_KEY has {len(key)} characters, {len(set(key))} of them different."
            f" Expected: {KEY_LENGTH} random characters.",
            "Set it to what `python -c 'import secrets; print(secrets.token_urlsafe(50))'` prints,"
            " the same for all processes. With a new key, everybody signs in again.",
        )


def _of_the_proxy() -> Iterator[Contradiction]:
    if settings.HTTPS and not settings.PROXIES:
        yield (
            "proxies",
            "ARQLAB_HTTPS is 1, but ARQLAB_PROXIES is 0. Expected: at least 1, because HTTPS ends"
            " at a proxy; without their number, all visitors share one limit of wrong passwords.",
            "Set ARQLAB_PROXIES to the number of proxies, mostly 1. If visitors reach this server"
            " itself, set ARQLAB_HTTPS to 0.",
        )
    if settings.HTTPS and settings.DEBUG:
        yield (
            "debug",
            "ARQLAB_DEBUG and ARQLAB_HTTPS are 1. Expected: no debug mode on a public server,"
            " because its error pages show settings and data to everybody.",
            "Set ARQLAB_DEBUG to 0.",
        )


def _of_addresses() -> Iterator[Contradiction]:
    for url in dict.fromkeys([settings.SITE_URL, *settings.CSRF_TRUSTED_ORIGINS]):
        if settings.HTTPS and urlsplit(url).scheme != "https":
            yield (
                "scheme",
                f"ARQLAB_HTTPS is 1, but this server's address is {url} (ARQLAB_URL, else the first"
                " of ARQLAB_ORIGINS). Expected: https://, as in the links of email and in forms.",
                "Set ARQLAB_URL or ARQLAB_ORIGINS to the address that visitors use, such as"
                " https://lab.example.org.",
            )
    host = urlsplit(settings.SITE_URL).hostname or ""
    # A proxy may ask for another host than its visitors do.
    if not settings.PROXIES and not validate_host(host, settings.ALLOWED_HOSTS):
        yield (
            "hosts",
            f"Links in email lead to {settings.SITE_URL}, but ARQLAB_HOSTS is"
            f" {','.join(settings.ALLOWED_HOSTS)!r}. Expected: a host that this server answers to.",
            f"Set ARQLAB_URL to the address that visitors use, or add {host} to ARQLAB_HOSTS.",
        )


def _of_services() -> Iterator[Contradiction]:
    if settings.EMAIL_URL and urlsplit(settings.EMAIL_URL).scheme != "smtp":
        yield (
            "email",
            "EMAIL_URL does not begin with smtp://. Expected: smtp://user:password@host:587.",
            "Correct it, or remove it to send no email. TLS is chosen by the port: 587 or 465.",
        )
    if settings.S3_BUCKET and not BUCKET.fullmatch(settings.S3_BUCKET):
        yield (
            "bucket",
            f"ARQLAB_S3_BUCKET is {settings.S3_BUCKET!r}. Expected: the name of a bucket alone, of"
            " 3 to 63 lower-case letters, digits, dots and hyphens.",
            "Correct it. The address of the object storage is AWS_ENDPOINT_URL_S3, and its region"
            " AWS_DEFAULT_REGION.",
        )
    if not settings.GENERATION_URL and (settings.GENERATION_MODEL or settings.GENERATION_KEY):
        yield (
            "generation",
            "ARQLAB_GENERATION_MODEL or ARQLAB_GENERATION_KEY is set, but ARQLAB_GENERATION_URL is"
            " empty. Expected: all of them, or none.",
            "Set ARQLAB_GENERATION_URL to the address of the API, or remove the others.",
        )
