"""Every estimate of hours counts the labels: a formula takes one for each of its instances."""

import pytest
from django.utils import timezone

from arqlab.core.models import Lab, Task, User
from assessment.assignments.selectors.grid import assignment_grid
from assessment.assignments.selectors.planning import task_planning
from assessment.judging.selectors.own_work import own_work
from tests.assessment.factories import assign, judge, make_formula_pool
from tests.evaluation.factories import make_run
from tests.factories import FormulaTaskFactory, TopicFactory

INSTANCES = [("7", "1"), ("8", "2"), ("9", "3")]
SECONDS = 3 * 26.6  # 004 §5.4
PATH = "/labs/arqmath-x/tasks/task2/"


@pytest.fixture
def formulas(lab: Lab, assessor: User) -> Task:
    """Return a task with one formula in three posts, assigned to an assessor."""
    task = FormulaTaskFactory(lab=lab, slug="task2", trec_items="formula-ids")
    topic = TopicFactory(task=task, query_id="B.1")
    make_formula_pool(task, {"B.1": {"70": INSTANCES}})
    assign(assessor, topic)
    return task


def test_the_work_left_is_that_of_all_instances(formulas, lab, assessor):
    now = timezone.now()
    grid, own = assignment_grid(formulas, at=now), own_work(assessor, [lab])[lab.pk]

    assert grid.seconds_left == own.seconds_left == pytest.approx(SECONDS)
    assert [row.hours for row in grid.people if row.left] == [pytest.approx(SECONDS / 3600)]
    assert (grid.total, own.left) == (1, 1)


def test_the_plan_of_assignments_needs_the_hours_of_all_instances(formulas):
    planning = task_planning(formulas, overlap=0, expected_labels=0, at=timezone.now())

    assert planning.needed == pytest.approx(SECONDS / 3600)


def test_the_pages_of_the_assessor_show_the_time_of_all_instances(formulas, assessor, client_of):
    for page in ("judging/", "judging/work/"):
        assert "1 item left, about 1 min" in " ".join(
            client_of(assessor).get(f"/labs/arqmath-x/{page}").text.split()
        )


def test_a_pace_is_that_of_labels(formulas, assessor):
    for instance in formulas.pools.get().items.get().instances.all():
        judge(assessor, instance, 2, active_ms=30_000)

    [row] = assignment_grid(formulas, at=timezone.now()).rows
    assert (row.pace.labels, row.pace.each) == (3, 30.0)


def test_the_planner_counts_the_instances_that_will_be_judged(lab, team, organizer, client_of):
    task = FormulaTaskFactory(lab=lab, slug="task2", trec_items="formula-ids")
    TopicFactory(task=task, query_id="B.1")
    make_run(team, task, {"B.1": ["7", "8", "9"]}, is_primary=True)

    page = client_of(organizer).get(f"{PATH}pools/plan/")

    assert page.context["plan"].labels == 3
    assert page.context["plan_cost"].hours == pytest.approx(SECONDS / 3600)
    assert "Seconds per label" in page.text
