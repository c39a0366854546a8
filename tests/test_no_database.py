"""Without a database, every page, file and address of the API asks to come back later."""

import io
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import DatabaseError, OperationalError, connection, connections, transaction
from django.db.backends.postgresql.base import DatabaseWrapper as Postgresql
from django.db.backends.sqlite3.base import DatabaseWrapper as Sqlite
from django.test import Client
from django.urls import get_resolver, reverse
from pytest_django.plugin import DjangoDbBlocker

from arqlab.core.errors import error_body
from arqlab.core.faults import is_database_lost
from arqlab.server.services import health
from tests.core.views.test_error_pages import says
from tests.test_access import named_addresses, parameters_of

WORDS = {"repair": "text", "kind": "deadline", "name": "runs.zip", "token": "abc", "key": "abc"}
"""Parts of addresses that are neither names nor numbers of something stored."""


@pytest.fixture(params=["postgresql", "sqlite"])
def no_database(request: Any, tmp_path: Path, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """A server of PostgreSQL where nobody listens, or a file of SQLite in a folder that is gone."""
    usual = connections["default"]
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    own = {"NAME": str(tmp_path / "gone" / "arqlab.sqlite3"), "OPTIONS": {}}
    if request.param == "postgresql":
        own = {"NAME": "arqlab", "HOST": "127.0.0.1", "PORT": port, "USER": "x", "OPTIONS": {}}
    kind = Postgresql if request.param == "postgresql" else Sqlite
    connections["default"] = kind(usual.settings_dict | own, "default")
    with django_db_blocker.unblock():
        yield
    connections["default"] = usual


def paths() -> Iterator[tuple[str, str]]:
    """Yield the name and a path of every address."""
    for name in named_addresses(get_resolver().url_patterns):
        values = {part: WORDS.get(part, 1) for part in parameters_of(name)}
        yield name, reverse(name, kwargs=values)


@pytest.fixture
def known() -> Client:
    """A browser with the cookie of a session, which is read before any view is called."""
    client = Client(raise_request_exception=False)
    client.cookies[settings.SESSION_COOKIE_NAME] = "a" * 32
    return client


@pytest.mark.parametrize("method", ["get", "post"])
def test_every_address_asks_to_come_back_later(no_database: None, known: Client, method) -> None:
    visitor = Client(raise_request_exception=False)
    for name, path in paths():
        answer, open_answer = getattr(known, method)(path), getattr(visitor, method)(path)

        assert (answer.status_code, answer["Retry-After"]) == (503, "10"), name
        assert open_answer.status_code in (200, 302, 401, 403, 404, 405, 503), name


def test_a_page_says_what_happened_and_the_api_says_it_in_json(
    no_database: None, known: Client
) -> None:
    page, api = known.get("/labs/"), known.get("/api/v1/labs/")

    happened = (
        "ArqLab cannot reach its database at the moment. Everything you saved before is safe, but "
        "what you sent last may not be saved."
    )
    todo = "Wait a minute and reload the page. Check whether your last change is there."
    assert says(page, "The database is not available", happened, todo)
    assert api.json() == error_body(f"{happened} {todo}", "busy")


def test_a_token_is_answered_later_too(no_database: None) -> None:
    client = Client(raise_request_exception=False, headers={"authorization": "Token abc"})

    assert client.get("/api/v1/labs/").status_code == 503


def test_a_request_without_a_database_is_one_line_of_the_log(
    no_database: None, known: Client, log: io.StringIO
) -> None:
    known.get("/labs/")

    [line] = log.getvalue().splitlines()
    assert "Service Unavailable: /labs/: " in line


def test_a_server_without_a_database_is_alive_and_not_ready(no_database: None) -> None:
    health._readiness_at.cache_clear()
    ready = Client().get("/health/ready")
    health._readiness_at.cache_clear()

    assert Client().get("/health/live").status_code == 200
    assert (ready.status_code, ready.json()["checks"]["database"]) == (503, "failing")


def test_a_mistake_of_ours_is_not_taken_for_a_lost_database(db: None) -> None:
    with pytest.raises(DatabaseError) as caught, transaction.atomic():
        connection.cursor().execute("SELECT nothing FROM nowhere")

    assert not is_database_lost(caught.value)


def test_a_locked_database_counts_as_lost(db: None, tmp_path: Path) -> None:
    own = {"NAME": tmp_path / "a.sqlite3", "OPTIONS": {"timeout": 0}}
    one, other = (Sqlite(connections["default"].settings_dict | own) for _ in range(2))
    with closing(one), closing(other):
        one.cursor().execute("BEGIN IMMEDIATE")
        with pytest.raises(OperationalError) as caught:
            other.cursor().execute("BEGIN IMMEDIATE")

    assert is_database_lost(caught.value)
