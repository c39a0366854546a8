"""Settings that contradict each other: no process that sets up Django starts with them, whether it
is a server, a worker, beat, a command or a WSGI server of another kind (arqlab/core/apps.py).

Each error names the variable, what was found and expected, and what to do (docs/settings.md).
"""

import re
import sys
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import Error, register
from django.core.exceptions import ImproperlyConfigured
from django.http.request import validate_host

from arqkit.data_files import data_beside

KEY_LENGTH = 50
DIFFERENT_SIGNS = 5
"""Both are what Django's own check of a deployment (security.W009) expects."""
PLACEHOLDER = "change-me"
"""How the secrets of .env.example begin, which everybody can read."""
BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_TEXTS = data_beside(__file__)


@register
def check_settings(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[Error]:
    """Return an error for each contradiction, all at once."""
    key, url, bucket, https = _key(), settings.SITE_URL, settings.S3_BUCKET, settings.HTTPS
    host, generates = urlsplit(url).hostname or "", settings.GENERATION_URL
    is_wrong = {
        "key": len(key) < KEY_LENGTH or len(set(key)) < DIFFERENT_SIGNS,
        "database-password": (urlsplit(settings.DATABASE_URL).password or "").startswith(
            PLACEHOLDER
        ),
        "proxies": https and not settings.PROXIES,
        "debug": https and settings.DEBUG,
        # A proxy may ask for another host than its visitors do.
        "hosts": not settings.PROXIES and not validate_host(host, settings.ALLOWED_HOSTS),
        "email": settings.EMAIL_URL and urlsplit(settings.EMAIL_URL).scheme != "smtp",
        "bucket": bucket and not BUCKET.fullmatch(bucket),
        "generation": not generates and (settings.GENERATION_MODEL or settings.GENERATION_KEY),
    }
    facts: dict[str, object] = {
        "length": len(key),
        "different": len(set(key)),
        "expected": KEY_LENGTH,
    }
    facts |= {"url": url, "host": host, "hosts": ",".join(settings.ALLOWED_HOSTS), "bucket": bucket}
    faults = [(name, facts) for name, wrong in is_wrong.items() if wrong]
    origins = dict.fromkeys([url, *settings.CSRF_TRUSTED_ORIGINS] if https else [])
    faults += [("scheme", {"url": it}) for it in origins if urlsplit(it).scheme != "https"]
    return [
        Error(
            _TEXTS[name]["found"].format(**facts),
            hint=_TEXTS[name]["todo"].format(**facts),
            id=f"arqlab.{name}",
        )
        for name, facts in faults
    ]


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
