"""Fixtures for the tests of pages and API."""

from collections.abc import Callable

import pytest
from django.test import Client

from arqlab.core.models import User
from submissions.models import Run
from tests.factories import Scene
from tests.submissions.factories import ValidRunFactory


@pytest.fixture
def browser(scene: Scene, client_of: Callable[[User], Client]) -> Client:
    """Return a client signed in as a member of team Alpha."""
    return client_of(scene.member)


@pytest.fixture
def valid_run(scene: Scene) -> Run:
    return ValidRunFactory(task=scene.task, team=scene.team, tag="bm25")
