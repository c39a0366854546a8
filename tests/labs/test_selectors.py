"""Queries about people, labs, tasks and topics."""

from datetime import UTC, datetime, timedelta

import pytest

from arqlab.core.errors import UserError
from arqlab.core.models import Lab, Task, Topic
from arqlab.labs.selectors import (
    lab_row,
    lab_rows,
    neighbours,
    own_labs,
    person_named,
    roles_in,
    task_named,
    topic_info,
)
from tests.factories import LabFactory, MemberFactory, OrganizerFactory, TaskFactory, UserFactory

NOW = datetime(2027, 5, 1, tzinfo=UTC)
DAY = timedelta(days=1)


def state_of(lab):
    return lab_row(lab, tasks=Task.objects.all(), at=NOW).state


@pytest.mark.django_db
class TestTheStateOfALab:
    def test_a_lab_is_open_while_a_task_is_open(self):
        lab = LabFactory()
        TaskFactory(lab=lab, deadline=NOW - DAY)
        TaskFactory(lab=lab, deadline=NOW + DAY)

        assert state_of(lab) == "open"

    def test_a_lab_is_closed_after_all_deadlines(self):
        assert state_of(TaskFactory(deadline=NOW - DAY).lab) == "closed"

    def test_a_lab_is_upcoming_before_its_first_task_opens_and_without_tasks(self):
        assert state_of(TaskFactory(opens_at=NOW + DAY).lab) == "upcoming"
        assert state_of(LabFactory()) == "upcoming"

    def test_a_lab_that_is_not_public_is_a_draft(self):
        assert state_of(LabFactory(is_public=False)) == "draft"

    def test_open_labs_come_first(self):
        TaskFactory(lab__name="A", deadline=NOW - DAY)
        TaskFactory(lab__name="B")

        rows = lab_rows(Lab.objects.all(), tasks=Task.objects.all(), at=NOW)
        assert [row.lab.name for row in rows] == ["B", "A"]

    def test_the_next_deadline_is_that_of_an_open_task(self):
        lab = LabFactory()
        for days in (-1, 5, 3):
            TaskFactory(lab=lab, deadline=NOW + days * DAY)
        TaskFactory(lab=lab, opens_at=NOW + DAY, deadline=NOW + 2 * DAY)

        assert lab_row(lab, tasks=Task.objects.all(), at=NOW).next_deadline == NOW + 3 * DAY


def test_a_command_names_a_task(task):
    assert task_named("arqmath-x/task1") == task


def test_the_error_for_an_unknown_task_lists_the_known_tasks(task):
    with pytest.raises(UserError, match="one of arqmath-x/task1"):
        task_named("arqmath-x/task9")


def test_a_user_is_found_by_address_ignoring_case_and_by_user_name(db):
    person = UserFactory(username="ada", email="Ada@Example.org")

    assert person_named("ADA@example.org") == person_named("ada") == person


def test_roles_in_a_lab_are_written_in_words(scene):
    OrganizerFactory(lab=scene.lab, user=scene.member)
    MemberFactory(team=scene.other_team, user=scene.member)

    standing = roles_in(scene.member, scene.lab)

    assert standing.words == "organizer, member of Alpha, member of Beta"


@pytest.mark.parametrize(
    ("role", "somebody"), [("visitor", False), ("outsider", False), ("assessor", True)]
)
def test_a_user_with_a_role_is_somebody(scene, role, somebody):
    assert roles_in(scene.people[role], scene.lab).is_somebody is somebody


def test_own_labs_include_the_users_roles(scene, django_assert_num_queries):
    LabFactory()

    with django_assert_num_queries(3):
        own = own_labs(scene.assessor, tasks=Task.objects.all(), at=NOW)

    assert [(lab.row.lab, lab.standing.assesses) for lab in own] == [(scene.lab, True)]


def test_topics_have_neighbours_except_the_first_and_the_last(task):
    first, last = task.topics.all()

    assert neighbours(first) == (None, last)
    assert neighbours(last) == (first, None)


def test_information_that_may_reveal_judgments_is_not_public():
    topic = Topic(info={"HM": "3", "difficulty": "hard", "multi_part": "no"})

    assert topic_info(topic, organizes=True) == (
        [("difficulty", "hard"), ("multi_part", "no")],
        [("HM", "3")],
    )
    assert topic_info(topic, organizes=False)[1] == []
