"""Shared fixtures: a lab, one user of each role, and browsers signed in as them."""

import gc
import io
import logging
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import pytest
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db import connection, transaction
from django.test import Client, TransactionTestCase
from pytest_django.fixtures import Settings
from pytest_django.plugin import DjangoDbBlocker

from arqlab.core.apps import OneLineForBadRequests
from arqlab.core.caches import computed_values
from arqlab.core.models import Lab, Task, Team, User
from tests.databases import UseDatabase, copy_template, drop_by_force, empty_tables
from tests.factories import Scene, confirm_password, make_lab
from tests.paths import SHARED_DATA
from tests.submissions import processes

NO_DATA = f"The real data is not at {SHARED_DATA}."
# Whatever asks for the database has one of these fixtures, or is marked so.
DATABASE_FIXTURES = {"db", "transactional_db", "django_db_setup", "use_tested_database"}

CONTRIB = Path(__file__).parent / "contrib"
"""The folders with the tests of each optional app."""
PAGES = {"views", "templatetags", "test_views.py"}
"""Folders and files with tests of pages, which run once: queries have tests of their own on both
databases, and `test_reading` and the browser open every page on PostgreSQL.
"""
VISITS = {"client", "client_of"}
"""Fixtures of tests that visit pages, wherever these tests are."""

# The same examples in each run, however busy the machine: `--hypothesis-profile=search` looks for
# others.
hypothesis.settings.register_profile(
    "suite",
    deadline=None,
    derandomize=True,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.register_profile(
    "search",
    deadline=None,
    max_examples=1000,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("suite")


def pytest_collection(session: pytest.Session) -> None:
    """Collect no garbage while a process collects thousands of tests, all of which stay."""
    if session.config.getoption("dist", "no") == "no":  # xdist's workers collect them
        gc.disable()


def pytest_collection_finish() -> None:
    """Spare the garbage collector all that stays to the end: modules and tests."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Mark the tests that need a database or the real data, and start with the longest ones.

    Those of an optional app that is left out do not run.
    """
    left_out = set(settings.WITHOUT)
    for item in items:
        if item.path.is_relative_to(CONTRIB):
            item.add_marker(pytest.mark.needs(item.path.relative_to(CONTRIB).parts[0]))
    items[:] = [
        item
        for item in items
        if not any(left_out & set(mark.args) for mark in item.iter_markers("needs"))
    ]
    for item in items:
        if DATABASE_FIXTURES & set(item.fixturenames) or item.get_closest_marker("django_db"):
            item.add_marker("database")
        if "shared_data" in item.fixturenames and not item.get_closest_marker("shared_data"):
            item.add_marker("shared_data")
        if is_of_one_database(item):
            item.add_marker("once")
        if item.get_closest_marker("shared_data") and not SHARED_DATA.is_dir():
            item.add_marker(pytest.mark.skip(reason=NO_DATA))
    result = yield
    items.sort(key=lambda item: not takes_long(set(item.keywords)))
    return result


def is_of_one_database(item: pytest.Item) -> bool:
    """Return whether a test of pages or of the real data runs on SQLite only: it rolls back, so it
    is about no lock and nobody else, and is not marked to run on both databases."""
    fixtures, mark = set(item.fixturenames), item.get_closest_marker("django_db")
    commits = "transactional_db" in fixtures or bool(mark and mark.kwargs.get("transaction"))
    if commits or any(map(item.get_closest_marker, ("both", "browser", "servers"))):
        return False
    is_page = bool(PAGES & set(item.path.parts) or VISITS & fixtures)
    return is_page or item.get_closest_marker("shared_data") is not None


def takes_long(marks: set[str]) -> bool:
    """Return whether a test begins early: beside it others are run, and none waits for it at the
    end.
    """
    return bool({"servers", "browser"} & marks) or {"database", "shared_data"} <= marks


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Write how many tests read the real data."""
    reports = [each for kind in ("passed", "failed") for each in terminalreporter.getreports(kind)]
    read = sum(each.when == "call" and "shared_data" in each.keywords for each in reports)
    terminalreporter.write_line(
        f"{read} tests read the real data." if SHARED_DATA.is_dir() else NO_DATA
    )


@pytest.fixture(autouse=True)
def nothing_computed() -> Iterator[None]:
    """Forget what a test computes: others have other rows with the same ids."""
    yield
    computed_values.clear()


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings: None) -> None:
    """Begin with a copy of the database that `tests.everywhere` migrated, if it did."""
    copy_template()
    drop_by_force()


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
    TransactionTestCase._fixture_teardown = lambda self: empty_tables(connection)


@pytest.fixture(scope="module")
def kept_db(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """The database for fixtures of a module: what they make is made once, each test is rolled back
    to it, and after the last it is rolled back too."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield
        transaction.set_rollback(True)


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """Yield what the console handler of the settings writes."""
    handler = logging.StreamHandler(io.StringIO())
    line = dict(settings.LOGGING["formatters"]["line"])
    handler.setFormatter(line.pop("()")(**line))
    assert settings.LOGGING["handlers"]["console"]["filters"] == ["one_line"]
    handler.addFilter(OneLineForBadRequests())
    logging.getLogger().addHandler(handler)
    yield handler.stream
    logging.getLogger().removeHandler(handler)


@pytest.fixture
def media(settings: Settings, tmp_path: Path) -> Path:
    """Store files in a folder, as servers do."""
    settings.MEDIA_ROOT = tmp_path / "files"
    backend = "arqlab.core.files.DurableStorage"
    settings.STORAGES = settings.STORAGES | {"default": {"BACKEND": backend}}
    return settings.MEDIA_ROOT


@pytest.fixture(scope="session")
def use_tested_database() -> UseDatabase:
    """Return a function that gives processes on a data folder a new database of the tests' kind."""
    return processes.use_database


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of the labs' real data; skip the test if it does not exist."""
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
    """Return a browser signed in as a user who has just confirmed the password, or signed out for
    a visitor.
    """

    def sign_in(user: User | AnonymousUser) -> Client:
        client = Client()
        if isinstance(user, User):
            client.force_login(user)
            confirm_password(client, user)
        return client

    return sign_in


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """Return the address of a Dask cluster of two workers, in threads of this process.

    It ends with the module: its threads use the generator that hypothesis seeds.
    """
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=False,
        protocol="tcp",
        dashboard_address="127.0.0.1:0",
    ) as made:
        yield made.scheduler_address
