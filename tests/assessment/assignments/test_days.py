"""The items judged per day, with the forecast, as organizers see them."""

from datetime import UTC, date, datetime, timedelta

import pytest

from arqlab.core.models import Task
from assessment.assignments.selectors.days import judged_days
from assessment.assignments.selectors.grid import assignment_grid
from assessment.models import PoolInstance, PoolItem
from tests.assessment.factories import assign, judge, make_formula_pool, make_pool
from tests.factories import FormulaTaskFactory, TopicFactory

pytestmark = pytest.mark.django_db
AT = datetime(2026, 11, 20, tzinfo=UTC)
PATH = "/labs/arqmath-x/tasks/task1/assignments/"


def days_of(task):
    """Return the days of a task as (day of November, judged, expected)."""
    found = judged_days(task, assignment_grid(task, at=AT), at=AT)
    return [(row.day.day, row.judged, row.expected) for row in found.days]


@pytest.fixture
def half_judged(task, assessor):
    """Ten of twenty items judged: four on the 16th, six on the 18th."""
    make_pool(task, {"A.1": [str(number) for number in range(20)]})
    assign(assessor, task.topics.get(query_id="A.1"))
    for place, item in enumerate(PoolItem.objects.all()[:10]):
        on = AT - timedelta(days=4 if place < 4 else 2)
        judge(assessor, item.instances.get(), 1, judged_at=on)
    return task


def test_judged_days_are_followed_by_the_days_until_the_estimated_completion(half_judged):
    # Ten in the four days since the first are 2.5 a day; ten are left.
    assert days_of(half_judged) == [
        (16, 4, None),
        (17, 0, None),
        (18, 6, None),
        (19, 0, None),
        (20, 0, 2.5),
        (21, None, 2.5),
        (22, None, 2.5),
        (23, None, 2.5),
        (24, None, 0.0),
    ]


def test_what_was_judged_today_is_part_of_what_is_expected_today(half_judged, assessor):
    for item in PoolItem.objects.filter(done_at=None)[:2]:
        judge(assessor, item.instances.get(), 1, judged_at=AT)

    # Twelve in four days are three a day, beside the two of today.
    assert days_of(half_judged)[4] == (20, 2, 5.0)


def test_an_item_with_several_instances_is_judged_once(lab, assessor):
    task = FormulaTaskFactory(lab=lab, slug="task2")
    TopicFactory(task=task, query_id="B.1")
    make_formula_pool(task, {"B.1": {"70": [("7", "1"), ("9", "12")]}})
    for instance in PoolItem.objects.get().instances.all():
        judge(assessor, instance, 3, judged_at=AT)

    assert days_of(task) == [(20, 1, None)]


def test_imported_judgments_are_on_no_day(task, assessor):
    make_pool(task)
    judge(assessor, PoolItem.objects.first().instances.get(), 3, is_imported=True)

    assert judged_days(task, assignment_grid(task, at=AT), at=AT) is None


def test_a_forecast_of_years_is_cut(half_judged):
    PoolItem.objects.bulk_create(
        PoolItem(
            pool=half_judged.pools.get(),
            topic=half_judged.topics.get(query_id="A.1"),
            kind="posts",
            item=f"m{number}",
            position=100 + number,
        )
        for number in range(300)
    )
    many = PoolItem.objects.filter(instances=None)
    PoolInstance.objects.bulk_create(PoolInstance(item=item, doc_id=item.item) for item in many)
    found = judged_days(half_judged, assignment_grid(half_judged, at=AT), at=AT)

    assert found.is_cut
    assert found.days[-1].day == date(2027, 2, 18)  # 90 days later


@pytest.mark.parametrize(
    ("deadline", "shown", "last"),
    [
        (datetime(2026, 11, 17, tzinfo=UTC), date(2026, 11, 17), 24),
        (datetime(2026, 11, 29, tzinfo=UTC), date(2026, 11, 29), 29),
        (datetime(2026, 11, 15, tzinfo=UTC), None, 24),  # before the first judgment
        (datetime(2027, 11, 29, tzinfo=UTC), None, 24),
        (None, None, 24),
    ],
)
def test_a_deadline_near_the_days_is_shown(half_judged, deadline, shown, last):
    half_judged.deadline = deadline
    found = judged_days(half_judged, assignment_grid(half_judged, at=AT), at=AT)

    assert found.deadlines == ({"submission deadline": shown} if shown else {})
    assert found.days[-1].day.day == last


def test_the_judging_deadline_is_shown_beside_the_submission_deadline(half_judged):
    half_judged.deadline = datetime(2026, 11, 17, tzinfo=UTC)
    half_judged.judging_deadline = datetime(2026, 11, 28, tzinfo=UTC)
    found = judged_days(half_judged, assignment_grid(half_judged, at=AT), at=AT)

    assert found.data["deadlines"] == [
        {"name": "submission deadline", "day": "2026-11-17"},
        {"name": "judging deadline", "day": "2026-11-28"},
    ]
    assert found.days[-1].day.day == 28


@pytest.mark.parametrize(("day", "late"), [(23, 1), (25, 0)])
def test_assessors_who_finish_after_the_judging_deadline_are_late(half_judged, day, late):
    # Ten items at 2.5 a day: the assessor finishes on the 24th.
    half_judged.judging_deadline = datetime(2026, 11, day, tzinfo=UTC)

    assert len(assignment_grid(half_judged, at=AT).late_people) == late


def test_the_page_names_the_judging_deadline(half_judged, client_of, organizer):
    Task.objects.update(judging_deadline=datetime(2026, 11, 29, 11, 59, tzinfo=UTC))
    page = client_of(organizer).get(PATH).text

    assert "28 November 2026, 23:59 anywhere on earth" in page
    assert "Judging deadline: 29 Nov 2026." in page  # the caption of the table, in UTC as its days


def test_the_page_has_the_days_as_chart_and_table(half_judged, client_of, organizer):
    page = client_of(organizer).get(PATH).text

    assert 'data-chart="judged-days"' in page
    assert "16 Nov 2026</time></th>" in page


def test_before_the_first_judgment_there_is_no_chart(task, client_of, organizer):
    make_pool(task)

    assert "judged-days" not in client_of(organizer).get(PATH).text
