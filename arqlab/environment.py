"""Environment variables as settings read them."""

import os
import secrets
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured


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


def env_list(name: str, default: str = "") -> list[str]:
    """Return the parts of a comma-separated variable, without surrounding spaces."""
    return [part.strip() for part in env(name, default).split(",") if part.strip()]


def embedded_secret_key(folder: Path) -> str:
    """Return the secret key in the data folder, created on first use, for embedded mode."""
    path = folder / "secret-key"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_text(secrets.token_urlsafe(50), encoding="utf-8")
    return path.read_text(encoding="utf-8").strip()
