"""The labs' real folders load as they are, and give the counts of their papers."""

from pathlib import Path

import pytest
from django.utils import timezone

from arqkit.formats.archives.folders import SourceFolder
from arqlab.core.models import Lab
from assessment.models import QrelSet
from assessment.qrels.selectors.versions import lab_summary, topic_judgments
from assessment.qrels.services.loading import load_lab

pytestmark = pytest.mark.both  # PostgreSQL refuses texts and lengths that SQLite stores

SUMMARIES = {
    "arqmath-1": [
        ("task1", 98, "official", 77),
        ("task2", 85, "visual-v2", 45),
        ("task2", 85, "visual-v3", 45),
    ],
    "arqmath-2": [
        ("task1", 100, "official", 71),
        ("task2", 100, "visual-v2", 58),
        ("task2", 100, "instances", 70),
    ],
    "arqmath-3": [
        ("task1", 100, "official", 78),
        ("task2", 100, "visual-v3", 76),
        ("task2", 100, "instances", 76),
        ("task3", 100, None, 0),
    ],
    "ntcir-12-wfb": [("concrete", 20, "aggregate", 20)],
}


@pytest.fixture(scope="module")
def loaded(request: pytest.FixtureRequest, kept_db: None, shared_data: Path) -> Lab:
    """A real lab, loaded once for all tests that ask for it."""
    return load_lab(
        folder=SourceFolder(shared_data / request.param, reads_beside=True),
        at=timezone.now(),
        by=None,
    ).lab


@pytest.mark.parametrize("loaded", SUMMARIES, indirect=True)
def test_a_real_lab_loads_and_loading_it_again_changes_nothing(loaded, shared_data: Path, db):
    assert [line[:4] for line in lab_summary(loaded)] == SUMMARIES[loaded.slug]
    assert not load_lab(
        folder=SourceFolder(shared_data / loaded.slug, reads_beside=True),
        at=timezone.now(),
        by=None,
    ).is_changed


@pytest.mark.parametrize("loaded", ["arqmath-3"], indirect=True)
def test_the_qrels_have_the_counts_of_the_paper(loaded, db):
    counted = topic_judgments(QrelSet.objects.get(task__lab=loaded, task__slug="task1"))

    assert sum(topic.judged for topic in counted.values()) / 78 == pytest.approx(446.76, abs=0.005)
    assert min(topic.judged for topic in counted.values()) > 0
