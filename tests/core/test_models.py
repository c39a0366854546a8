"""The database refuses inconsistent people, labs, tasks and topics."""

from datetime import timedelta

import pytest
from django.apps import apps
from django.core.exceptions import ValidationError
from django.db import IntegrityError
from django.db.models import IntegerField
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


def test_two_users_cannot_share_an_address_ignoring_case():
    UserFactory(email="ada@example.org")
    with pytest.raises(IntegrityError):
        UserFactory(email="Ada@Example.org")


def test_several_users_may_have_no_address():
    assert UserFactory(email="").pk != UserFactory(email="").pk


def test_a_user_is_shown_by_full_name_if_there_is_one():
    assert UserFactory(first_name="Ada", last_name="Lovelace").name == "Ada Lovelace"
    assert UserFactory(username="ada").name == "ada"


def test_a_lab_slug_is_unique():
    lab = LabFactory()
    with pytest.raises(IntegrityError):
        LabFactory(slug=lab.slug)


def test_tasks_of_two_labs_may_share_a_slug():
    task = TaskFactory(slug="task1")
    assert TaskFactory(slug="task1").lab != task.lab


def test_tasks_of_one_lab_cannot_share_a_slug(lab: Lab):
    with pytest.raises(IntegrityError):
        TaskFactory(lab=lab, slug="task1")


def test_a_task_is_of_a_known_kind():
    with pytest.raises(IntegrityError):
        TaskFactory(kind="questions")


@pytest.mark.parametrize("kind", Task.Kind.values)
def test_every_kind_of_task_can_be_stored(kind: str):
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
def test_a_task_accepts_runs_from_its_opening_to_its_deadline(opens, closes, state):
    assert Task(opens_at=opens, deadline=closes).state(NOW) == state


def test_the_protocol_is_the_preset_with_overrides():
    task = TaskFactory(overrides={"limit": 10})

    assert (task.preset.limit, task.protocol.limit) == (1000, 10)
    assert task.protocol.measures == task.preset.measures


def test_a_topic_id_is_unique_in_a_task(task: Task):
    with pytest.raises(IntegrityError):
        TopicFactory(task=task, query_id="A.1")


def test_topics_come_in_the_order_of_their_file(task: Task):
    TopicFactory(task=task, query_id="A.10", position=3)
    assert [str(topic) for topic in Topic.objects.filter(task=task)] == ["A.1", "A.2", "A.10"]


def test_a_team_name_is_unique_in_a_lab_ignoring_case(lab: Lab):
    with pytest.raises(IntegrityError):
        TeamFactory(lab=lab, name="ALPHA")


def test_invitation_links_are_unique():
    assert len({TeamFactory().invitation_token for _ in range(5)}) == 5


@pytest.mark.parametrize("factory", [OrganizerFactory, AssessorFactory])
def test_organizers_and_assessors_belong_to_no_team(factory, team):
    with pytest.raises(IntegrityError):
        factory(lab=team.lab, team=team)


def test_a_member_belongs_to_a_team(lab: Lab):
    with pytest.raises(IntegrityError):
        Membership.objects.create(lab=lab, user=UserFactory(), role=Membership.Role.MEMBER)


def test_a_role_is_unique_per_user_and_lab(scene):
    with pytest.raises(IntegrityError):
        OrganizerFactory(lab=scene.lab, user=scene.organizer)


def test_a_membership_is_unique_per_user_and_team(scene):
    with pytest.raises(IntegrityError):
        MemberFactory(team=scene.team, user=scene.member)


def test_a_person_may_have_several_roles_and_teams(scene):
    MemberFactory(team=scene.team, user=scene.organizer)
    MemberFactory(team=scene.other_team, user=scene.organizer)
    assert scene.organizer.memberships.count() == 3


def test_a_membership_reads_as_a_sentence(scene):
    membership = scene.member.memberships.get()
    assert str(membership) == f"{scene.member} is member of {scene.lab}"


def test_the_admin_explains_that_a_slug_is_taken(lab: Lab):
    with pytest.raises(ValidationError, match="already exists"):
        Lab(slug=lab.slug, name="Another", protocol="arqmath-3").full_clean()


def test_no_row_of_any_model_has_a_number_too_long_for_the_database():
    fields = [
        (model, field.name)
        for model in apps.get_models()
        for field in model._meta.concrete_fields
        if isinstance(field, IntegerField)
    ]

    assert len(fields) > 50
    for model, name in fields:
        assert not model._base_manager.filter(**{f"{name}__in": [10**26, -(10**26)]}).exists()
