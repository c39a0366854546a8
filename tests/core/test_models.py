"""The database refuses nonsense about people, labs, tasks and topics, whoever writes it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError
from django.utils import timezone

from arqlab.core.models import Lab, Membership, Task, Topic
from tests.factories import (
    AssessorFactory,
    LabFactory,
    MemberFactory,
    OrganizerFactory,
    TaskFactory,
    TeamFactory,
    TopicFactory,
    UserFactory,
)

pytestmark = pytest.mark.django_db
NOW = timezone.now()
DAY = timedelta(days=1)


def test_two_people_do_not_share_an_address_however_it_is_written():
    UserFactory(email="ada@example.org")
    with pytest.raises(IntegrityError):
        UserFactory(email="Ada@Example.org")


def test_people_without_an_address_are_no_two_of_the_same():
    assert UserFactory(email="").pk != UserFactory(email="").pk


def test_a_person_goes_by_the_full_name_where_there_is_one():
    assert UserFactory(first_name="Ada", last_name="Lovelace").name == "Ada Lovelace"
    assert UserFactory(username="ada").name == "ada"


def test_a_slug_is_taken_once():
    lab = LabFactory()
    with pytest.raises(IntegrityError):
        LabFactory(slug=lab.slug)


def test_the_tasks_of_two_labs_may_share_a_slug():
    task = TaskFactory(slug="task1")
    assert TaskFactory(slug="task1").lab != task.lab


def test_the_tasks_of_one_lab_may_not(lab: Lab):
    with pytest.raises(IntegrityError):
        TaskFactory(lab=lab, slug="task1")


def test_a_task_is_of_a_known_kind():
    with pytest.raises(IntegrityError):
        TaskFactory(kind="questions")


@pytest.mark.parametrize("kind", Task.Kind.values)
def test_every_kind_that_there_is_may_be_stored(kind: str):
    assert TaskFactory(kind=kind).pk


@pytest.mark.parametrize("deadline", [NOW, NOW - DAY])
def test_a_task_opens_before_its_deadline(deadline):
    with pytest.raises(IntegrityError):
        TaskFactory(opens_at=NOW, deadline=deadline)


@pytest.mark.parametrize(
    ("opens", "closes", "state"),
    [
        (None, None, "open"),
        (NOW + DAY, None, "upcoming"),
        (NOW - DAY, NOW + DAY, "open"),
        (NOW, NOW + DAY, "open"),
        (None, NOW, "open"),
        (None, NOW - DAY, "closed"),
        (NOW - 2 * DAY, NOW - DAY, "closed"),
    ],
)
def test_a_task_takes_runs_from_its_opening_to_its_deadline(opens, closes, state):
    assert Task(opens_at=opens, deadline=closes).state(NOW) == state


def test_the_protocol_is_the_preset_with_what_differs():
    task = TaskFactory(overrides={"limit": 10})

    assert (task.preset.limit, task.protocol.limit) == (1000, 10)
    assert task.protocol.measures == task.preset.measures


def test_a_topic_stands_once_in_a_task(task: Task):
    with pytest.raises(IntegrityError):
        TopicFactory(task=task, query_id="A.1")


def test_topics_come_in_the_order_of_their_file(task: Task):
    TopicFactory(task=task, query_id="A.10", position=3)
    assert [str(topic) for topic in Topic.objects.filter(task=task)] == ["A.1", "A.2", "A.10"]


def test_a_teams_name_is_taken_once_in_a_lab_however_it_is_written(lab: Lab):
    with pytest.raises(IntegrityError):
        TeamFactory(lab=lab, name="ALPHA")


def test_no_two_teams_have_the_same_invitation():
    assert len({TeamFactory().invitation_token for _ in range(5)}) == 5


@pytest.mark.parametrize("factory", [OrganizerFactory, AssessorFactory])
def test_organizers_and_assessors_belong_to_no_team(factory, team):
    with pytest.raises(IntegrityError):
        factory(lab=team.lab, team=team)


def test_a_member_belongs_to_a_team(lab: Lab):
    with pytest.raises(IntegrityError):
        Membership.objects.create(lab=lab, user=UserFactory(), role=Membership.Role.MEMBER)


def test_a_role_is_had_once(scene):
    with pytest.raises(IntegrityError):
        OrganizerFactory(lab=scene.lab, user=scene.organizer)


def test_a_person_is_once_in_a_team(scene):
    with pytest.raises(IntegrityError):
        MemberFactory(team=scene.team, user=scene.member)


def test_a_person_may_have_several_roles_and_teams(scene):
    MemberFactory(team=scene.team, user=scene.organizer)
    MemberFactory(team=scene.other_team, user=scene.organizer)
    assert scene.organizer.memberships.count() == 3


def test_a_membership_reads_as_a_sentence(scene):
    membership = scene.member.memberships.get()
    assert str(membership) == f"{scene.member} is member of {scene.lab}"


def test_the_administration_is_told_in_words_that_two_slugs_are_the_same(lab: Lab):
    with pytest.raises(ValidationError, match="already exists"):
        Lab(slug=lab.slug, name="Another", protocol="arqmath-3").full_clean()
