"""A database whose schema is strange is refused by every door, with what differs and what to do."""

import io
from collections.abc import Callable
from typing import NamedTuple

import pytest
from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.test import Client

from arqlab.core.models import Upgrade
from arqlab.core.services.schema import differences, last_upgrade, schema_fault
from arqlab.server.services import health

pytestmark = pytest.mark.django_db
MIGRATED = "INSERT INTO django_migrations (app, name, applied) VALUES ('{}', '{}', '2027-01-01')"
UPGRADED = "INSERT INTO core_upgrade (version, at) VALUES ('9.9.0', '2027-01-01')"
EARLIER = "UPDATE django_migrations SET applied = '2026-11-24'"


class Strange(NamedTuple):
    """What was done to a database, and what people read about it."""

    statements: list[str]
    found: list[str]
    todo: str


STRANGE = {
    "made on 24 November": Strange(
        ["ALTER TABLE core_lab DROP COLUMN description", EARLIER],
        ["column core_lab.description is missing", "before version 0.1.0 made it, on 2026-11-24"],
        "Archive its labs with the checkout that made it",
    ),
    "a table of an earlier 0001": Strange(
        ["CREATE TABLE collection_formula (id integer)", EARLIER],
        ["table collection_formula is unknown", "before version 0.1.0"],
        "Archive its labs",
    ),
    "an app of 24 November": Strange(
        [
            MIGRATED.format("pages", "0001_initial"),
            "DELETE FROM django_migrations WHERE name = '0003_keys_of_uploads'",
        ],
        ["this version lacks: pages.0001_initial", "before version 0.1.0 made it, on"],
        "No version upgrades it.",
    ),
    "a migration of a newer version": Strange(
        [MIGRATED.format("core", "9999_later"), UPGRADED],
        ["ArqLab 9.9.0", settings.VERSION, "lacks core.9999_later"],
        "Start ArqLab 9.9.0, or restore a backup from before that upgrade",
    ),
    "an app of a newer version": Strange(
        [MIGRATED.format("exchange", "0001_initial")],
        ["another version", "lacks exchange.0001_initial"],
        "restore a backup from before that upgrade",
    ),
    "a lost table": Strange(
        ["DROP TABLE notices_mailoptout"],
        ["table notices_mailoptout is missing", "changed by something else"],
        "Restore the last backup (`manage.py restore`)",
    ),
    "a lost index": Strange(
        ["DROP INDEX judgment_retired"],
        ["judgment_retired of table assessment_judgment is missing"],
        "Restore the last backup",
    ),
    "a column by hand": Strange(
        ["ALTER TABLE submissions_run ADD COLUMN remark integer"],
        ["column submissions_run.remark is unknown"],
        "or take that change back",
    ),
    "another type": Strange(
        [
            "ALTER TABLE collection_tag DROP COLUMN count",
            "ALTER TABLE collection_tag ADD COLUMN count varchar(7)",
        ],
        ["column collection_tag.count is", "varying(7)|varchar(7)", "instead of integer"],
        "Restore the last backup",
    ),
}


def printed_by(*words: str) -> str:
    """Return what a command prints, and the reason for which it fails."""
    out = io.StringIO()
    with pytest.raises(CommandError) as failed:
        call_command(*words, stdout=out)
    return f"{out.getvalue()} {failed.value}"


def readiness() -> str:
    """Return the reason for which /health/ready answers that the server is not ready."""
    health._readiness_at.cache_clear()
    # The home page, which it asks for, fails before the client gets the answer.
    answer = Client(raise_request_exception=False).get("/health/ready")
    fault = health.recent_readiness()["schema"]
    health._readiness_at.cache_clear()
    assert (answer.status_code, answer.json()["checks"]["schema"]) == (503, "failing")
    assert fault
    return " ".join(fault)


DOORS: dict[str, Callable[[], str]] = {
    "migrate": lambda: printed_by("migrate"),
    "serve": lambda: printed_by("serve", "--bind", "127.0.0.1:0"),
    "/health/ready": readiness,
    "doctor": lambda: printed_by("doctor"),
}


@pytest.mark.needs("operations", "retrieval")
@pytest.mark.parametrize("kind", STRANGE)
def test_every_door_refuses_a_strange_database(kind, monkeypatch):
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", "")  # which serve sets
    strange = STRANGE[kind]
    with connection.cursor() as cursor:
        for statement in strange.statements:
            cursor.execute(statement)

    for door, text_of in DOORS.items():
        text = text_of()
        for part in (*strange.found, strange.todo):
            assert any(either in text for either in part.split("|")), (door, part, text)
    assert locks_held() == 0


def locks_held() -> int:
    """Return how many locks this database's servers would wait for."""
    if connection.vendor != "postgresql":
        return 0
    held = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()"
    with connection.cursor() as cursor:
        cursor.execute(held)
        return int(cursor.fetchone()[0])


def test_a_database_that_this_version_migrated_is_not_strange():
    assert schema_fault(connection) is None
    assert list(differences(connection, apps.get_models(include_auto_created=True))) == []


def test_a_table_that_no_model_has_is_missed_too():
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE core_attempts")

    assert "table core_attempts is missing" in schema_fault(connection).found


def test_the_version_that_migrates_is_recorded_once(transactional_db):
    for _ in range(2):
        call_command("migrate", verbosity=0)

    assert [upgrade.version for upgrade in Upgrade.objects.all()] == [settings.VERSION]
    assert last_upgrade(connection) == (settings.VERSION, Upgrade.objects.get().at)
