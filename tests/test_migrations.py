"""A lab from before the migrations were squashed goes on with its database as it is."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder

pytestmark = pytest.mark.django_db

APPS = ("core", "collection", "submissions", "assessment", "evaluation")


@pytest.fixture
def squashed() -> list[tuple[str, str]]:
    """Record the database's state as before the squash; return the migrations that replace it."""
    nodes = MigrationExecutor(connection).loader.disk_migrations
    replacing = [key for key in nodes if key[0] in APPS and nodes[key].replaces]
    recorder = MigrationRecorder(connection)
    for app, name in replacing:
        recorder.record_unapplied(app, name)
        for replaced in nodes[app, name].replaces:
            recorder.record_applied(*replaced)
    return replacing


def test_migrating_a_database_from_before_the_squash_runs_nothing(squashed):
    executor = MigrationExecutor(connection)
    assert executor.migration_plan(executor.loader.graph.leaf_nodes()) == []

    call_command("migrate", verbosity=0)

    applied = MigrationRecorder(connection).applied_migrations()
    assert squashed
    assert set(squashed) <= set(applied)
