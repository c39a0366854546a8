"""Equation embeddings as a baseline: trained once on the collection, used by all its tasks."""

from dataclasses import replace

import pytest
from django.utils import timezone

from arqlab.core.errors import UserError
from contrib.retrieval.selectors import Sources
from contrib.retrieval.services.baselines import make_baseline, rank_for, usual_order
from contrib.retrieval.services.indexes import indexes_of
from contrib.retrieval.services.systems import SYSTEMS
from submissions.selectors import ordered_index
from tests.collection.factories import load_small
from tests.factories import FormulaTaskFactory, TopicFactory

pytest.importorskip("torch_geometric")

pytestmark = [pytest.mark.django_db, pytest.mark.once]  # what a network computes
HEAD = "id\tpost_id\tthread_id\ttype\tvisual_id\tformula\n"
FORMULAS = HEAD + "".join(
    f"{thread}0{number}\t{thread}1\t{thread}\tanswer\t\t\\frac{{x_{number}}}{{2}} + {thread}\n"
    for thread in range(1, 13)
    for number in (1, 2, 3)
)


def order_of(task, **settings):
    """Return the order of a baseline by a tiny network."""
    order = usual_order(task, SYSTEMS["equations"])
    return replace(order, settings={**order.settings, "triplets": 30, "epochs": 1, **settings})


def made(task, **settings):
    return make_baseline(
        order=order_of(task, **settings), by=None, at=timezone.now(), progress=lambda *_: None
    )


@pytest.fixture
def lab(scene, tmp_path, settings):
    """The scene's lab, and an empty data folder."""
    settings.DATA_DIR = tmp_path / "data"
    return scene.lab


def task_of(lab, folder, formulas=FORMULAS):
    """Return Task 2 with a topic; the collection has 36 formulas in 12 threads."""
    load_small(lab, folder, formulas=formulas)
    task = FormulaTaskFactory(lab=lab)
    TopicFactory(task=task, query_id="B.1", latex=r"\frac{x_2}{2} + 7")
    return task


def test_a_network_is_trained_to_the_end_and_finds_the_copy_of_a_formula_first(lab, tmp_path):
    run = made(task_of(lab, tmp_path))

    rows = ordered_index(run, order="score", columns=("item",)).sort("order").collect()
    assert (run.status, rows["item"][0], rows.height) == ("valid", "702", 36)
    assert run.made_by.settings["triplets"] == 30


def test_all_tasks_of_a_collection_share_one_network(lab, scene, tmp_path):
    task = task_of(lab, tmp_path)
    made(task)
    scene.task.topics.filter(query_id="A.2").update(
        title=r'<span class="math-container" id="q">$\frac{x_2}{2} + 7$</span>'
    )
    networks = [*indexes_of(Sources(task)).glob("network-*/network.pt")]
    written = [path.stat().st_mtime_ns for path in networks]
    rank_for(order_of(scene.task), lambda *_: None)

    assert len(networks) == 1
    assert [path.stat().st_mtime_ns for path in networks] == written


def test_a_collection_too_small_to_learn_from_is_refused(lab, tmp_path):
    task = task_of(lab, tmp_path, formulas=HEAD + "7\t1\t1\ttitle\t70\ta^2\n")

    with pytest.raises(UserError, match="Train it on a larger collection"):
        made(task)
