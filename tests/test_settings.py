"""Settings are read from the environment, and invalid values refused."""

import runpy
import stat
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

SETTINGS = Path(__file__).resolve().parent.parent / "arqlab" / "settings.py"
NAMES = (
    "DATABASE_URL",
    "REDIS_URL",
    "EMAIL_URL",
    "ARQLAB_SECRET_KEY",
    "ARQLAB_HTTPS",
    "ARQLAB_HOSTS",
    "ARQLAB_ORIGINS",
    "ARQLAB_URL",
    "ARQLAB_DEBUG",
    "ARQLAB_PROXIES",
    "ARQLAB_CLAIM_SECONDS",
)


@pytest.fixture
def settings_of(monkeypatch, tmp_path):
    """Return the settings for some variables; all others have their defaults."""

    def read(**variables: str) -> dict[str, Any]:
        for name in NAMES:
            monkeypatch.delenv(name, raising=False)
        for name, value in ({"ARQLAB_DATA": str(tmp_path)} | variables).items():
            monkeypatch.setenv(name, value)
        return runpy.run_path(str(SETTINGS))

    return read


def test_without_variables_arqlab_runs_in_embedded_mode(settings_of, tmp_path):
    found = settings_of()

    assert found["EMBEDDED"]
    assert found["CELERY_TASK_ALWAYS_EAGER"]
    assert found["DATABASES"]["default"]["NAME"] == str(tmp_path / "arqlab.sqlite3")
    assert found["DATABASES"]["default"]["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
    assert found["MEDIA_ROOT"] == tmp_path / "files"


def test_the_embedded_key_is_created_once_and_readable_by_its_owner_only(settings_of, tmp_path):
    first, second = settings_of()["SECRET_KEY"], settings_of()["SECRET_KEY"]

    assert first == second == (tmp_path / "secret-key").read_text()
    assert stat.S_IMODE((tmp_path / "secret-key").stat().st_mode) == 0o600


def test_with_a_database_url_no_secret_key_is_created(settings_of, tmp_path):
    assert settings_of(DATABASE_URL="postgresql://a:b@host/lab")["SECRET_KEY"] == ""
    assert not (tmp_path / "secret-key").exists()


def test_a_database_url_is_postgresql_with_kept_connections(settings_of):
    database = settings_of(DATABASE_URL="postgresql://a:b@host:5433/lab", ARQLAB_SECRET_KEY="k")[
        "DATABASES"
    ]["default"]

    assert (database["HOST"], database["PORT"], database["NAME"]) == ("host", 5433, "lab")
    assert database["CONN_MAX_AGE"] == 60
    assert "transaction_mode" not in database.get("OPTIONS", {})


def test_a_redis_url_moves_tasks_and_cache_out_of_the_web_process(settings_of):
    found = settings_of(REDIS_URL="redis://host:6379/0")

    assert not found["EMBEDDED"]
    assert not found["CELERY_TASK_ALWAYS_EAGER"]
    assert (
        found["CELERY_BROKER_URL"]
        == found["CACHES"]["computed"]["LOCATION"]
        == "redis://host:6379/0"
    )


def test_a_secret_may_be_in_a_file(settings_of, tmp_path):
    (tmp_path / "key").write_text("from a file\n")

    assert settings_of(ARQLAB_SECRET_KEY_FILE=str(tmp_path / "key"))["SECRET_KEY"] == "from a file"


@pytest.mark.parametrize(
    ("written", "read"), [("1", True), ("YES", True), ("0", False), ("false", False)]
)
def test_booleans_may_be_written_in_words(settings_of, written, read):
    assert settings_of(ARQLAB_DEBUG=written)["DEBUG"] is read


def test_other_boolean_values_are_refused(settings_of):
    with pytest.raises(ImproperlyConfigured, match=r"ARQLAB_HTTPS is 'maybe'\. Use 1 or 0"):
        settings_of(ARQLAB_HTTPS="maybe")


@pytest.mark.parametrize(
    ("name", "value", "least"),
    [
        ("ARQLAB_PROXIES", "one", 0),
        ("ARQLAB_PROXIES", "-1", 0),
        ("ARQLAB_RUN_MAX_BYTES", "64 MB", 1),
        ("ARQLAB_RUN_MAX_LINES", "0", 1),
        ("ARQLAB_CLAIM_SECONDS", "30", 60),
    ],
)
def test_what_is_no_number_or_too_small_is_refused(settings_of, name, value, least):
    with pytest.raises(ImproperlyConfigured) as refused:
        settings_of(**{name: value})

    assert str(refused.value) == f"{name} is '{value}'. Use a whole number from {least}."


def test_hosts_are_comma_separated(settings_of):
    assert settings_of(ARQLAB_HOSTS="a.example, b.example,")["ALLOWED_HOSTS"] == [
        "a.example",
        "b.example",
    ]


def test_with_https_cookies_are_secure_and_hsts_is_sent(settings_of):
    found = settings_of(ARQLAB_HTTPS="1")

    assert found["SESSION_COOKIE_SECURE"]
    assert found["CSRF_COOKIE_SECURE"]
    assert found["SECURE_HSTS_SECONDS"] > 0


def test_messages_are_files_without_a_mail_server(settings_of, tmp_path):
    found = settings_of()

    assert found["EMAIL_FILE_PATH"] == str(tmp_path / "mail")
    assert not found["SENDS_MAIL"]


@pytest.mark.parametrize(
    ("variables", "address"),
    [
        ({}, "http://127.0.0.1:8000"),
        ({"ARQLAB_ORIGINS": "https://a.example, https://b.example"}, "https://a.example"),
        (
            {"ARQLAB_ORIGINS": "https://a.example", "ARQLAB_URL": "https://c.example/"},
            "https://c.example",
        ),
    ],
)
def test_links_in_mail_have_the_address_of_the_server(settings_of, variables, address):
    assert settings_of(**variables)["SITE_URL"] == address


@pytest.mark.parametrize(
    ("port", "number", "tls", "ssl"),
    [
        (":587", 587, True, False),
        (":465", 465, False, True),
        (":2525", 2525, False, False),
        ("", 25, False, False),
    ],
)
def test_a_mail_server_is_read_from_its_url(settings_of, port, number, tls, ssl):
    found = settings_of(EMAIL_URL=f"smtp://lab%40example.org:p%3Aw@mail.example.org{port}")

    assert found["SENDS_MAIL"]
    assert found["EMAIL_USE_SSL"] is ssl
    assert (found["EMAIL_HOST"], found["EMAIL_PORT"], found["EMAIL_USE_TLS"]) == (
        "mail.example.org",
        number,
        tls,
    )
    assert (found["EMAIL_HOST_USER"], found["EMAIL_HOST_PASSWORD"]) == ("lab@example.org", "p:w")


def test_a_claim_outlives_the_longest_task(settings_of):
    found = settings_of()

    assert found["CELERY_TASK_TIME_LIMIT"] < found["CLAIM_SECONDS"]


def test_the_security_policy_allows_nothing_inline_and_no_other_host(settings_of):
    policy = settings_of()["CONTENT_SECURITY_POLICY"]["DIRECTIVES"]

    assert policy["default-src"] == ["'none'"]
    assert policy["script-src"] == policy["style-src"] == ["'self'"]
