"""Environment variables, read as settings."""

import contextlib
import os
import secrets
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import structlog
from django.core.exceptions import ImproperlyConfigured
from structlog.contextvars import get_contextvars, merge_contextvars

if TYPE_CHECKING:
    from sentry_sdk.types import Event


def env(name: str, default: str = "") -> str:
    """Return the value of a variable, or the default.

    `NAME_FILE` may name a file with the value (Docker secrets).
    """
    path = os.environ.get(f"{name}_FILE")
    return Path(path).read_text(encoding="utf-8").strip() if path else os.environ.get(name, default)


def env_bool(name: str, default: bool) -> bool:
    """Return a variable as a Boolean; refuse values other than 1, true, yes, 0, false and no."""
    value = env(name, "1" if default else "0").lower()
    if value not in {"1", "true", "yes", "0", "false", "no"}:
        raise ImproperlyConfigured(f"{name} is {value!r}. Use 1 or 0.")
    return value in {"1", "true", "yes"}


def env_int(name: str, default: int, *, least: int = 0) -> int:
    """Return a variable as a whole number; refuse other values, and numbers below `least`."""
    value = env(name, str(default))
    if not value.isdecimal() or int(value) < least:
        raise ImproperlyConfigured(f"{name} is {value!r}. Use a whole number from {least}.")
    return int(value)


def env_list(name: str, default: str = "") -> list[str]:
    """Return the parts of a comma-separated variable, without surrounding spaces."""
    return [part.strip() for part in env(name, default).split(",") if part.strip()]


def env_some_of(name: str, options: Sequence[str]) -> list[str]:
    """Return the parts of a comma-separated variable; refuse those that are no option."""
    parts = env_list(name)
    if unknown := [part for part in parts if part not in options]:
        raise ImproperlyConfigured(
            f"{name} names {', '.join(unknown)}. Name only: {', '.join(options)}."
        )
    return parts


def embedded_secret_key(folder: Path) -> str:
    """Return the secret key in the data folder, created on first use, for embedded mode."""
    path = folder / "secret-key"
    if not path.exists():
        path.touch(mode=0o600)
        path.write_text(secrets.token_urlsafe(50), encoding="utf-8")
    return path.read_text(encoding="utf-8").strip()


def caches(redis_url: str, folder: Path) -> dict[str, dict[str, object]]:
    """Return Django's caches: counts that last, and values that can be computed again.

    allauth counts wrong passwords, sign-ups and password resets in the default cache, a table of
    the database. Above MAX_ENTRIES its expired counts are deleted; CULL_FREQUENCY keeps all others.
    Computed values and requests to the API share Redis, where there is one, but not their room in
    memory, so that pages push no count out. Without Redis, what jobs compute in the background
    process reaches pages in files below `folder`. Of computed values, only those of the same code
    are read.
    """
    redis: dict[str, object] = {
        "BACKEND": "arqlab.core.cache_backends.RedisOrMemory",
        "LOCATION": redis_url,
        "OPTIONS": {"socket_timeout": 1, "socket_connect_timeout": 1},
    }
    memory = {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
    return {
        "default": {
            "BACKEND": "arqlab.core.cache_backends.Attempts",
            "LOCATION": "core_attempts",
            "OPTIONS": {"MAX_ENTRIES": 1_000, "CULL_FREQUENCY": 10**9},
        },
        "computed": {"KEY_FUNCTION": "arqlab.core.caches.key_of_this_code"}
        | (
            redis
            if redis_url
            else {
                "BACKEND": "arqlab.core.cache_backends.ComputedFiles",
                "LOCATION": str(folder / "computed"),
                "OPTIONS": {"MAX_BYTES": 256_000_000},
            }
        ),
        "requests": redis | {"KEY_PREFIX": "requests"}
        if redis_url
        else memory | {"LOCATION": "requests", "OPTIONS": {"MAX_ENTRIES": 10_000}},
    }


def make_private(folder: Path) -> None:
    """Make the data folder, and restrict its files and those of this process to its user.

    Runs, judgments and the database are secret. Files of earlier versions are restricted too.
    """
    os.umask(0o077)
    with contextlib.suppress(OSError):  # the first use of the folder tells what is wrong with it
        folder.mkdir(parents=True, exist_ok=True)
    for path in (*folder.glob("arqlab.sqlite3*"), folder / "secret-key", folder / "files"):
        if path.exists() and path.stat().st_mode & 0o077:
            with contextlib.suppress(PermissionError):  # of another user, who closes it
                path.chmod(0o700 if path.is_dir() else 0o600)


def file_storage(bucket: str) -> dict[str, object]:
    """Return Django's storage of files: a bucket of an object storage, else the disk."""
    if not bucket:
        return {"BACKEND": "arqlab.core.files.DurableStorage"}
    if not find_spec("storages") or not find_spec("boto3"):
        raise ImproperlyConfigured(
            "ARQLAB_S3_BUCKET is set, but django-storages or boto3 is not installed. Run"
            " `bin/setup --extras`, or remove the variable."
        )
    return {"BACKEND": "arqlab.core.buckets.BucketStorage"}


def log_formatter(*, as_json: bool) -> dict[str, object]:
    """Return the formatter of log records: a line for people, or a JSON object in one line.

    Both have what is bound to the context: the id of the request, and the name of the task.
    """
    end: list[object] = (
        [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
        if as_json
        else [
            structlog.dev.ConsoleRenderer(
                colors=False,
                pad_event_to=0,
                pad_level=False,
                exception_formatter=structlog.dev.plain_traceback,
            )
        ]
    )
    return {
        "()": structlog.stdlib.ProcessorFormatter,
        "foreign_pre_chain": [
            merge_contextvars,
            structlog.stdlib.add_log_level,
            structlog.stdlib.add_logger_name,
            structlog.processors.TimeStamper(fmt="%Y-%m-%d %H:%M:%S", utc=True),
        ],
        "processors": [structlog.stdlib.ProcessorFormatter.remove_processors_meta, *end],
    }


def report_errors(dsn: str) -> None:
    """Send errors to Sentry, without what users sent and without values of variables."""
    try:
        import sentry_sdk
    except ImportError as error:
        raise ImproperlyConfigured(
            "ARQLAB_SENTRY_DSN is set, but sentry-sdk is not installed. Run `bin/setup --extras`,"
            " or remove the variable."
        ) from error

    def tagged(event: "Event", _: object) -> "Event":
        event.setdefault("tags", {}).update(get_contextvars())
        return event

    sentry_sdk.init(
        dsn, before_send=tagged, max_request_body_size="never", include_local_variables=False
    )
