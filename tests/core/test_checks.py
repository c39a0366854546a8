"""Settings that contradict each other are refused at start, all at once, each with its cure."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.management import get_commands
from django.test import override_settings

from arqlab.core.checks import check_settings
from arqlab.server.management.commands.serve import check_workers
from tests.paths import ROOT
from tests.test_compose import EXAMPLE
from tests.test_settings import settings_of  # noqa: F401

KEY = "0123456789" * 5
PUBLIC = {
    "ARQLAB_SECRET_KEY": KEY,
    "ARQLAB_HTTPS": "1",
    "ARQLAB_PROXIES": "1",
    "ARQLAB_ORIGINS": "https://lab.example.org",
    "ARQLAB_HOSTS": "lab.example.org",
    "EMAIL_URL": "smtp://lab@mail.example.org:587",
}
CONTRADICTIONS: dict[str, tuple[dict[str, str], str]] = {
    "key": ({"ARQLAB_SECRET_KEY": "short"}, "ARQLAB_SECRET_KEY has 5 characters, 5 of them diff"),
    "database-password": (
        {"DATABASE_URL": f"postgresql://arqlab:{EXAMPLE['POSTGRES_PASSWORD']}@postgres/arqlab"},
        "The password of the database is that of .env.example",
    ),
    "proxies": ({"ARQLAB_PROXIES": "0"}, "ARQLAB_HTTPS is 1, but ARQLAB_PROXIES is 0. Expected: "),
    "debug": ({"ARQLAB_DEBUG": "1"}, "ARQLAB_DEBUG and ARQLAB_HTTPS are 1. Expected: no debug"),
    "scheme": (
        {"ARQLAB_URL": "http://lab.example.org"},
        "ARQLAB_HTTPS is 1, but this server's address is http://lab.example.org",
    ),
    "hosts": (
        {"ARQLAB_HTTPS": "0", "ARQLAB_PROXIES": "0", "ARQLAB_URL": "http://other.example"},
        "Links in email lead to http://other.example, but ARQLAB_HOSTS is 'lab.example.org'.",
    ),
    "email": ({"EMAIL_URL": "mail.example.org:587"}, "EMAIL_URL does not begin with smtp://."),
    "bucket": ({"ARQLAB_S3_BUCKET": "s3://lab"}, "ARQLAB_S3_BUCKET is 's3://lab'. Expected: the"),
    "generation": (
        {"ARQLAB_GENERATION_KEY": "k"},
        "ARQLAB_GENERATION_MODEL or ARQLAB_GENERATION_KEY is set, but ARQLAB_GENERATION_URL is",
    ),
}
CHECKED = (
    *("SECRET_KEY", "HTTPS", "PROXIES", "DEBUG", "SITE_URL", "CSRF_TRUSTED_ORIGINS"),
    *("ALLOWED_HOSTS", "EMAIL_URL", "GENERATION_URL", "GENERATION_MODEL", "GENERATION_KEY"),
    *("S3_BUCKET", "DATABASE_URL"),
)
"""The settings that the checks compare."""
SettingsOf = Callable[..., dict[str, object]]


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_a_contradiction_is_an_error_that_says_what_to_do(
    settings_of: SettingsOf,  # noqa: F811
    name: str,
) -> None:
    variables, message = CONTRADICTIONS[name]
    read = settings_of(**PUBLIC | variables)

    with override_settings(**{each: read[each] for each in CHECKED}):
        [error] = check_settings(None)

    assert error.id == f"arqlab.{name}"
    assert error.msg.startswith(message)
    assert "Set " in error.hint or "Correct " in error.hint


@pytest.mark.parametrize("key", ["", "a" * 50, EXAMPLE["ARQLAB_SECRET_KEY"]])
def test_a_key_that_can_be_guessed_is_refused(key: str) -> None:
    with override_settings(SECRET_KEY=key):
        assert [error.id for error in check_settings(None)] == ["arqlab.key"]


@override_settings(EMBEDDED=False)
def test_with_redis_there_may_be_several_web_processes() -> None:
    assert check_workers(4, None) == []


def manage(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command with the settings that the variables make."""
    return python(folder, "manage.py", *words, **variables)


def python(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run Python with the settings that the variables make."""
    own = {"ARQLAB_DATA": str(folder), "DJANGO_SETTINGS_MODULE": "arqlab.settings", **variables}
    kept = {name: value for name, value in os.environ.items() if not name.endswith("_URL")}
    command = [sys.executable, *words]
    return subprocess.run(
        command, cwd=ROOT, env=kept | own, capture_output=True, text=True, check=False, timeout=120
    )


def test_serve_refuses_more_processes_than_the_settings_allow(tmp_path: Path) -> None:
    served = manage(tmp_path, "serve", "--workers", "4", **PUBLIC)

    assert served.returncode == 1
    assert "HINT: Leave out --workers, or set REDIS_URL" in served.stderr
    assert not (tmp_path / "arqlab.sqlite3").exists()


WRONG = ("proxies", "debug", "key", "email", "generation")
PROCESSES = {
    "a command": "manage.py confirm_address ada",
    "a command of Django": "manage.py migrate",
    "a command without system checks": "manage.py shell -c print()",
    "serve": "manage.py serve",
    "a worker": "-m celery --app arqlab.celery worker",
    "beat": "-m celery --app arqlab.celery beat",
    "the WSGI entry point": "-c import\tarqlab.wsgi",
    "the background process": "-c import\tmultiprocessing\tas\tm,arqlab.schedule\tas\ts;"
    "s.run_background(m.Pipe()[0])",
}
"""How each kind of process is started, after `python`."""


@pytest.mark.parametrize("kind", PROCESSES)
def test_no_process_starts_with_contradictory_settings(tmp_path: Path, kind: str) -> None:
    variables = {name: value for each in WRONG for name, value in CONTRADICTIONS[each][0].items()}
    words = [word.replace("\t", " ") for word in PROCESSES[kind].split(" ")]

    started = python(tmp_path, *words, **PUBLIC | variables)

    assert started.returncode == 1
    assert all(f"(arqlab.{name})" in started.stderr for name in WRONG), started.stderr
    assert "HINT: " in started.stderr
    assert "Traceback" not in started.stderr
    assert not (tmp_path / "arqlab.sqlite3").exists()


EVERY_COMMAND = """
import contextlib, io, sys
from django.apps import apps
from django.core.management import execute_from_command_line
for name in sys.argv[1:]:
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        try:
            execute_from_command_line(["manage.py", name])
            refused = ""
        except SystemExit as ended:
            refused = str(ended)
    assert "(arqlab.key)" in refused and not said.getvalue(), f"{name} has started: {refused}"
    apps.app_configs.clear()
    apps.loading = False
"""


def test_every_command_refuses_contradictory_settings(tmp_path: Path) -> None:
    names = sorted(get_commands())
    assert {"serve", "migrate", "load_lab", "shell", "createsuperuser", "backup"} <= set(names)

    tried = python(tmp_path, "-c", EVERY_COMMAND, *names, ARQLAB_SECRET_KEY="short")

    assert (tried.returncode, tried.stderr) == (0, "")


def test_what_is_deployed_is_started_as_one_of_these_processes() -> None:
    places = [ROOT / "docker-compose.yml", ROOT / "Dockerfile", *(ROOT / "bin").iterdir()]
    places += (path for path in (ROOT / "deploy").rglob("*") if path.is_file())
    words = re.compile(r"\b(?:gunicorn|uvicorn|granian|daphne|hypercorn|django-admin)\b", re.I)
    started = [path.name for path in places if words.search(path.read_text(encoding="utf-8"))]

    assert started == []


def test_the_documented_settings_pass_the_check_of_a_deployment(tmp_path: Path) -> None:
    example = EXAMPLE | {"ARQLAB_SECRET_KEY": KEY}

    checked = manage(tmp_path, "check", "--deploy", "--fail-level", "WARNING", **example)

    assert (checked.returncode, checked.stderr) == (0, "")
    assert "no issues" in checked.stdout
