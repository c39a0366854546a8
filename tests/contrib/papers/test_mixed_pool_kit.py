"""The kit of a task that was judged in another task's pool states no hours or depths as its own."""

import pytest

from arqkit.protocols.presets import PoolProtocol
from assessment.models import PoolInstance
from assessment.pools.selectors.choices import PoolChoice
from assessment.pools.services.freezing import freeze_pool
from assessment.qrels.services.versions import QrelsChoice, freeze_qrels
from contrib.papers.services.paper_kits import paper_board
from contrib.papers.services.paper_sentences import paper_sentences
from evaluation.services.scoring import score_waiting
from tests.assessment.factories import judge
from tests.evaluation.factories import NOW, make_run
from tests.factories import Scene, TopicFactory, WrittenTaskFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def sentences(scene: Scene) -> dict[str, dict[str, str]]:
    """Return the sentences of both tasks by slug, after all answers were judged in one pool."""
    third = WrittenTaskFactory(lab=scene.lab, slug="task3", name="Open-domain answers")
    third.overrides = {"min_relevant": 0}
    third.save()
    TopicFactory(task=third, query_id="A.1", position=1)
    answers = {"A.1": "Yes, $x$."}
    make_run(scene.team, third, {"A.1": ["A.1"]}, tag="gpt", answers=answers)
    make_run(scene.team, scene.task, {"A.1": ["10", "11", "12"]}, tag="bm25", is_primary=True)
    mixed = PoolProtocol(primary=2, alternate=1, includes_generated_answers=True)
    pool = freeze_pool(task=scene.task, choice=PoolChoice(mixed, 1), by=None, at=NOW)
    for instance in PoolInstance.objects.filter(item__pool=pool):
        judge(scene.assessor, instance, 3)
    texts = {}
    for task in (scene.task, third):
        qrels = freeze_qrels(task=task, choice=QrelsChoice("v1"), by=None, at=NOW)
        score_waiting(at=NOW)
        texts[task.slug] = paper_sentences(paper_board(qrels))
    return texts


def test_the_pool_of_the_other_task_is_named_and_its_figures_are_not_repeated(
    sentences: dict[str, dict[str, str]], scene: Scene
) -> None:
    assert "the top 2 answers" in sentences["task1"]["pools"]
    assert "hours" in sentences["task1"]["assessment"]
    assert sentences["task3"]["pools"].startswith(
        f"Runs of Open-domain answers were assessed together with runs of {scene.task.name}, "
    )
    assert "an average of 1.0 answers were assessed." in sentences["task3"]["assessment"]
    assert "hours" not in sentences["task3"]["assessment"]
