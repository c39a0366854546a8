"""Shared fixtures: a lab, one user of each role, and browsers signed in as them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.test import Client
from pytest_django.plugin import DjangoDbBlocker

from arqlab.core.models import Lab, Task, Team, User
from tests.factories import Scene, make_lab
from tests.paths import SHARED_DATA


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> None:
    """Keep autovacuum from the tables: tests roll back what they insert, so it tells the planner
    that a table is empty while a test fills it, and joins of the test's 10,000 rows read all of
    them for each."""
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        for table in (
            connection.introspection.table_names(cursor)
            if connection.vendor == "postgresql"
            else ()
        ):
            cursor.execute(f'ALTER TABLE "{table}" SET (autovacuum_enabled = off)')


@pytest.fixture
def shared_data() -> Path:
    """Return the folder of the labs' real data, if it exists."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"The real data is not at {SHARED_DATA}.")
    return SHARED_DATA


@pytest.fixture
def scene(db: None) -> Scene:
    return make_lab()


@pytest.fixture
def lab(scene: Scene) -> Lab:
    return scene.lab


@pytest.fixture
def task(scene: Scene) -> Task:
    return scene.task


@pytest.fixture
def team(scene: Scene) -> Team:
    return scene.team


@pytest.fixture
def other_team(scene: Scene) -> Team:
    return scene.other_team


@pytest.fixture
def visitor() -> AnonymousUser:
    return AnonymousUser()


@pytest.fixture
def outsider(scene: Scene) -> User:
    return scene.outsider


@pytest.fixture
def member(scene: Scene) -> User:
    return scene.member


@pytest.fixture
def other_member(scene: Scene) -> User:
    return scene.other_member


@pytest.fixture
def assessor(scene: Scene) -> User:
    return scene.assessor


@pytest.fixture
def organizer(scene: Scene) -> User:
    return scene.organizer


@pytest.fixture
def superuser(scene: Scene) -> User:
    return scene.superuser


@pytest.fixture
def client_of() -> Callable[[User | AnonymousUser], Client]:
    """Return a browser signed in as a user, or signed out for a visitor."""

    def sign_in(user: User | AnonymousUser) -> Client:
        client = Client()
        if isinstance(user, User):
            client.force_login(user)
        return client

    return sign_in
