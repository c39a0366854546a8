"""A server is ready if all that it needs works, and says which part does not."""

import io
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client

from arqlab.core.errors import Fault
from arqlab.server.services import health
from arqlab.server.services.health import HEARTBEAT, LONGEST_PAUSE, READINESS, readiness
from arqlab.server.tasks import beat


@pytest.fixture(autouse=True)
def asked_anew(db: None) -> Iterator[None]:
    """Start with a server that works, and keep no answer of another test."""
    health._readiness_at.cache_clear()
    beat()
    yield
    health._readiness_at.cache_clear()


def no_redis(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    settings.EMBEDDED, settings.REDIS_URL = False, f"redis://127.0.0.1:{port}/0"


def of_an_earlier_version(*_: object) -> None:
    """Make the database as it was before the app `retrieval` existed."""
    MigrationRecorder.Migration.objects.filter(app="retrieval").delete()
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE retrieval_systemrun")


def with_another_table(*_: object) -> None:
    """Add a table that no model has."""
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE core_earlier (id integer)")


BREAKS: dict[str, Callable[..., object]] = {
    "migrations": of_an_earlier_version,
    "schema": with_another_table,
    "broker": no_redis,
    "workers": lambda *_: cache.delete(HEARTBEAT),
    "disk": lambda patch, _: patch.setattr("arqlab.core.selectors.SPARE", 2**60),
}


def test_a_server_that_works_is_ready_by_any_host_name() -> None:
    answer = Client(headers={"host": "10.0.0.7:8000"}).get("/health/ready")

    states = dict.fromkeys([*READINESS, "pages"], "ok")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok", "checks": states})
    assert Client(headers={"host": "10.0.0.7"}).get("/health/live").json() == {"status": "ok"}


@pytest.mark.needs("retrieval")
@pytest.mark.parametrize("name", BREAKS)
def test_what_does_not_work_is_named_without_its_reason(
    name: str, monkeypatch: pytest.MonkeyPatch, settings: Any, log: io.StringIO
) -> None:
    BREAKS[name](monkeypatch, settings)

    answer = Client().get("/health/ready")

    is_beside = name in health.BESIDE_REQUESTS
    assert (answer.status_code, log.getvalue()) == (200 if is_beside else 503, "")
    assert answer.json()["status"] == ("degraded" if is_beside else "failing")
    checks = dict.fromkeys([*READINESS, "pages"], "ok") | {name: "failing"}
    assert answer.json()["checks"] == checks
    [fault] = filter(None, readiness().values())
    assert fault.found.endswith(".")
    assert fault.todo.endswith(".")


# A strange schema is refused although the home page may still answer.
@pytest.mark.parametrize(
    "name", ["no-such-table", *sorted(BREAKS.keys() - {"migrations", "schema"})]
)
def test_a_server_is_ready_exactly_if_a_first_request_succeeds(
    name: str, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    if name == "no-such-table":
        # A patched `db_table` would outlive the test: columns keep the name they first saw.
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE core_lab RENAME TO core_lab_of_a_later_version")
    else:
        BREAKS[name](monkeypatch, settings)

    ready, page = (
        Client(raise_request_exception=False).get(path).status_code
        for path in ("/health/ready", "/")
    )

    assert (ready == 200) is (page == 200)


def test_an_answer_is_at_most_a_second_old(monkeypatch: pytest.MonkeyPatch) -> None:
    at = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: at)
    with monkeypatch.context() as broken:
        broken.setitem(health.READINESS, "database", lambda: Fault("It is away.", "Start it."))
        assert Client().get("/health/ready").status_code == 503

    monkeypatch.setattr(time, "monotonic", lambda: at + 0.99)

    assert Client().get("/health/ready").status_code == 200


def test_workers_that_stopped_are_a_fault_after_two_minutes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    later = cache.get(HEARTBEAT) + LONGEST_PAUSE + 1
    monkeypatch.setattr(time, "time", lambda: later)

    assert "for 121 s" in str(readiness()["workers"])


def test_strangers_who_ask_often_cost_one_check(
    django_assert_num_queries: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "KEPT_FOR", 1e9)  # the test may be slow
    Client().get("/health/ready")

    with django_assert_num_queries(0):
        Client().get("/health/ready")
