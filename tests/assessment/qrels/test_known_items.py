"""In a lab without a collection, runs are compared with qrels, pools and other runs."""

import pytest

from submissions.models import Run
from submissions.services.uploads import check_upload, submit_upload
from submissions.services.validation import validate_uploaded_run
from tests.assessment.factories import make_pool
from tests.evaluation.factories import make_qrels, make_run
from tests.factories import Scene
from tests.submissions.factories import NOW, sent

pytestmark = pytest.mark.django_db
IDS = ['"p1"', "p1\u00a0", "%70%31", "1"]


def uploaded(scene: Scene, item: str, *, upload=submit_upload, tag: str = "a") -> Run:
    """Return a checked run with one item."""
    file = sent(f"A.1\t{item}\t1\t9.5\tbm25\n".encode(), name=f"Alpha-task1-{tag}.tsv")
    [run] = upload(file=file, task=scene.task, team=scene.team, by=scene.member, at=NOW)
    validate_uploaded_run(run_id=run.pk, at=NOW)
    return Run.objects.get(pk=run.pk)


def is_warned(run: Run) -> bool:
    return run.problems.filter(kind="no-known-item", severity="warning").exists()


def with_qrels(scene: Scene) -> None:
    make_qrels(scene.task)


def with_pool(scene: Scene) -> None:
    make_pool(scene.task, {"A.1": ["p1"]})


def with_other_run(scene: Scene) -> None:
    make_run(scene.other_team, scene.task, {"A.1": ["p1"]})


@pytest.mark.parametrize("known", [with_qrels, with_pool, with_other_run])
@pytest.mark.parametrize("item", IDS)
def test_a_run_that_joins_nothing_is_warned_on_its_page(scene, client_of, known, item):
    known(scene)
    run = uploaded(scene, item)
    page = client_of(scene.member).get(f"/labs/arqmath-x/tasks/task1/runs/{run.pk}/")

    assert (run.status, is_warned(run)) == ("valid", True)
    assert "No item of the run is known to this task" in page.content.decode()
    assert not is_warned(uploaded(scene, "p1", tag="b"))


def test_the_first_run_of_a_task_is_compared_with_nothing(scene):
    assert not is_warned(uploaded(scene, '"p1"'))
    assert not is_warned(uploaded(scene, "x", tag="b"))  # not with a run of the same team


def test_files_that_are_only_checked_learn_nothing_about_qrels(scene):
    with_qrels(scene)
    with_pool(scene)

    assert not is_warned(uploaded(scene, "x", upload=check_upload))


def test_a_team_that_submits_and_withdraws_learns_nothing_more_about_qrels(scene):
    with_qrels(scene)
    for number in range(2 * scene.task.protocol.quota):
        make_run(scene.team, scene.task, tag=f"r{number}", withdrawn_at=NOW)

    assert not is_warned(uploaded(scene, "x"))
