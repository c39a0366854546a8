"""A pool of posts of the small collection; topic A.1 is the assessor's."""

from pathlib import Path

import pytest

from arqlab.core.models import Topic, User
from assessment.models import Pool
from tests.assessment.factories import assign, make_pool
from tests.assessment.judging.desk import Desk
from tests.collection.factories import load_small
from tests.factories import AssessorFactory, Scene


@pytest.fixture
def topic(scene: Scene) -> Topic:
    return scene.task.topics.get(query_id="A.1")


@pytest.fixture
def pool(scene: Scene, topic: Topic, tmp_path: Path) -> Pool:
    load_small(scene.lab, tmp_path)
    assign(scene.assessor, topic)
    return make_pool(scene.task)


@pytest.fixture
def desk(pool: Pool, assessor: User) -> Desk:
    return Desk(assessor)


@pytest.fixture
def second(pool: Pool, scene: Scene, topic: Topic) -> Desk:
    """Return the desk of a second assessor who shares the topic."""
    other = AssessorFactory(lab=scene.lab).user
    assign(other, topic)
    return Desk(other)
