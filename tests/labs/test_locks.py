"""Loads hold the lock of SQLite only while they store, and commands wait for it and report it."""

import io
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection

from arqlab.core.models import Lab, Topic
from arqlab.core.models.reading import snapshot
from arqlab.core.sqlite3 import base
from arqlab.labs.services import topic_loading
from tests.jobs.cases import FILES
from tests.jobs.disturbing import another_connection

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.once]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


class ReleasingErrors(io.StringIO):
    """A standard error that ends the other command when this one reports that it waits."""

    def __init__(self, other: sqlite3.Connection) -> None:
        super().__init__()
        self.other = other

    def write(self, text: str) -> int:
        if base.WAITING in text:
            self.other.execute("ROLLBACK")
        return super().write(text)


def test_a_command_waits_for_another_and_reports_it(folder, monkeypatch):
    monkeypatch.setattr(base, "SOON", 0)
    monkeypatch.setitem(connection.settings_dict["OPTIONS"], "timeout", 0)
    connection.close()
    with closing(sqlite3.connect(connection.settings_dict["NAME"])) as other:
        other.isolation_level = None
        other.execute("BEGIN IMMEDIATE")
        errors = ReleasingErrors(other)
        call_command("load_lab", str(folder), stdout=io.StringIO(), stderr=errors)
    connection.close()

    assert errors.getvalue().count(base.WAITING) == 1
    assert Lab.objects.filter(slug="tiny").exists()
    assert base.DatabaseWrapper.patience == 0


def test_topics_are_typeset_before_the_transaction_that_stores_them(folder, monkeypatch):
    made, in_transaction = topic_loading.topic_pages, []

    def typeset(*arguments):
        in_transaction.append(connection.in_atomic_block)
        return made(*arguments)

    monkeypatch.setattr(topic_loading, "topic_pages", typeset)
    call_command("load_lab", str(folder), stdout=io.StringIO())

    assert in_transaction == [False]
    assert Topic.objects.exclude(body_html="").count() == 4


def test_a_snapshot_is_of_one_moment_while_others_write():
    Lab.objects.create(slug="one", name="One", protocol="arqmath-1")
    with another_connection() as run, snapshot():
        assert Lab.objects.count() == 1
        run(lambda: Lab.objects.create(slug="two", name="Two", protocol="arqmath-1"))
        assert Lab.objects.count() == 1

    assert Lab.objects.count() == 2
    Lab.objects.create(slug="three", name="Three", protocol="arqmath-1")
