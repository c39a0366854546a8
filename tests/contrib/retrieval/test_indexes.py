"""Indexes are built once, whole or not at all."""

import os
from signal import SIGKILL

import pytest

from collection.models import Collection
from contrib.retrieval.selectors import Sources
from contrib.retrieval.services.indexes import built_index, indexes_of
from tests.collection.factories import load_small

pytestmark = pytest.mark.django_db


@pytest.fixture
def sources(scene, tmp_path, settings):
    """The sources of a lab with the small collection, and an empty data folder."""
    settings.DATA_DIR = tmp_path / "data"
    load_small(scene.lab, tmp_path)
    return Sources(scene.task)


def words(sources, build, **options):
    return built_index(sources, name="words", options=options, build=build)


def fill(folder):
    (folder / "part").write_text("whole")


def fail(folder):
    (folder / "part").write_text("half")
    raise OSError("the disk is full")


def test_a_finished_index_is_reused(sources):
    folder = words(sources, fill)

    assert (words(sources, fail), (folder / "part").read_text()) == (folder, "whole")


def test_a_build_that_failed_starts_again(sources):
    with pytest.raises(OSError, match="disk is full"):
        words(sources, fail)

    assert (words(sources, fill) / "part").read_text() == "whole"


def die(folder):
    (folder / "part").write_text("half")
    os.kill(os.getpid(), SIGKILL)


def test_a_killed_build_starts_again(sources):
    place = indexes_of(sources)  # read before the fork, which shares the database
    if (child := os.fork()) == 0:
        words(sources, die)
    assert os.waitpid(child, 0) == (child, SIGKILL)

    assert sorted(path.suffix for path in place.iterdir()) == [".building", ".lock"]
    assert (words(sources, fill) / "part").read_text() == "whole"


def test_a_build_that_resumes_gets_what_an_earlier_one_left(sources):
    def resume(folder):
        assert (folder / "part").read_text() == "half"
        fill(folder)

    with pytest.raises(OSError, match="disk is full"):
        words(sources, fail)
    folder = built_index(sources, name="words", options={}, build=resume, resumes=True)

    assert (folder / "part").read_text() == "whole"


def test_other_settings_have_another_index(sources):
    assert words(sources, fill, k1=1.2) != words(sources, fill, k1=2.0)


def test_a_changed_collection_has_a_new_index_and_the_earlier_one_is_deleted(sources):
    earlier = words(sources, fill)
    Collection.objects.update(source_sha256="f" * 64)
    later = words(Sources(sources.task), fill)

    assert (earlier.exists(), later.exists()) == (False, True)
