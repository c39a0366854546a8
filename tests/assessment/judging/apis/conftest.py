"""A pool of posts of the small collection; topic A.1 is the assessor's."""

from copy import deepcopy
from typing import NamedTuple

import pytest

from arqlab.core.models import Topic, User
from assessment.models import Pool
from tests.assessment.factories import assign, make_pool
from tests.assessment.judging.desk import Desk
from tests.collection.factories import load_small
from tests.factories import AssessorFactory, Scene, make_lab


class Judged(NamedTuple):
    """A lab, and its pool."""

    scene: Scene
    pool: Pool


@pytest.fixture(scope="module")
def loaded(kept_db: None, tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """Load the collection once for all tests of a module: it takes longer than most of them."""
    scene = make_lab()
    load_small(scene.lab, tmp_path_factory.mktemp("small"))
    assign(scene.assessor, scene.task.topics.get(query_id="A.1"))
    return Judged(scene, make_pool(scene.task))


@pytest.fixture
def judged(loaded: Judged, db: None) -> Judged:
    """Return records of this test alone, so that no other sees how it changes them."""
    return deepcopy(loaded)


@pytest.fixture
def scene(judged: Judged) -> Scene:
    return judged.scene


@pytest.fixture
def pool(judged: Judged) -> Pool:
    return judged.pool


@pytest.fixture
def topic(scene: Scene) -> Topic:
    return scene.task.topics.get(query_id="A.1")


@pytest.fixture
def desk(pool: Pool, assessor: User) -> Desk:
    return Desk(assessor)


@pytest.fixture
def second(pool: Pool, scene: Scene, topic: Topic) -> Desk:
    """Return the desk of a second assessor who shares the topic."""
    other = AssessorFactory(lab=scene.lab).user
    assign(other, topic)
    return Desk(other)
