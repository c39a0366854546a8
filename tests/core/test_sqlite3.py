"""Transactions on SQLite take turns."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Thread

import pytest
from django.db import OperationalError, connections

from arqlab.core.faults import is_database_lost
from arqlab.core.sqlite3 import base
from arqlab.core.sqlite3.base import DatabaseWrapper

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.once]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a.sqlite3"
    with closing(sqlite3.connect(path)) as other:
        other.executescript("PRAGMA journal_mode = WAL; CREATE TABLE one (text);")
    return path


@pytest.fixture
def connection(path: Path) -> Iterator[DatabaseWrapper]:
    with closing(connected(path, timeout=60)) as connection:
        yield connection


def connected(path: Path, *, timeout: float) -> DatabaseWrapper:
    options = {"timeout": timeout, "transaction_mode": "IMMEDIATE"}
    own = {"NAME": path, "OPTIONS": options}
    connection = DatabaseWrapper(connections["default"].settings_dict | own, "default")
    connection.inc_thread_sharing()
    return connection


def begin(connection: DatabaseWrapper) -> None:
    connection.set_autocommit(False, force_begin_transaction_with_broken_autocommit=True)


def test_a_transaction_waits_for_other_threads_and_for_other_processes(
    path: Path, connection: DatabaseWrapper
) -> None:
    def write() -> None:
        with closing(connected(path, timeout=60)) as second:
            begin(second)
            second.cursor().execute("INSERT INTO one SELECT COUNT(*) FROM one")
            second.commit()

    with closing(sqlite3.connect(path)) as other:  # it knows no turns, as another process
        begin(connection)
        connection.cursor().execute("INSERT INTO one VALUES ('first')")
        writer = Thread(target=write)
        writer.start()
        connection.commit()
        other.execute("INSERT INTO one VALUES ('other')")
        other.commit()
        writer.join()

    texts = {str(text) for [text] in connection.cursor().execute("SELECT text FROM one")}
    assert len(texts) == 3
    assert texts & {"1", "2"}  # how many the second thread found


@pytest.mark.parametrize("end", ["commit", "rollback", "close"])
def test_who_waits_too_long_is_refused_and_the_turn_ends(path: Path, end: str) -> None:
    with closing(connected(path, timeout=0)) as one, closing(connected(path, timeout=0)) as two:
        begin(one)
        with pytest.raises(OperationalError) as caught:
            begin(two)
        getattr(one, end)()
        begin(two)
        two.rollback()

    assert is_database_lost(caught.value)
    assert not base._turns.locked()


def test_background_work_lets_others_write_for_as_long_as_it_wrote(
    connection: DatabaseWrapper, monkeypatch
) -> None:
    clock, pauses = iter([0.0, 0.0, 0.0, 10.0, 10.03, 20.0, 10.03, 20.0, 20.0, 99.0]), list[float]()
    monkeypatch.setattr(base, "monotonic", lambda: next(clock))
    monkeypatch.setattr(base, "sleep", pauses.append)
    monkeypatch.setattr(base.os, "getpriority", lambda *_: 10)
    monkeypatch.setattr(DatabaseWrapper, "not_before", 0.0)
    for _ in range(2):
        begin(connection)
        connection.commit()
        connection.set_autocommit(True)

    assert pauses == pytest.approx([0, 0.03])
    assert DatabaseWrapper.not_before == pytest.approx(99 + base.LONGEST)
