"""Permissions of users in a lab."""

import pytest
from django.http import Http404

from arqlab.core.models import Membership
from arqlab.core.permissions import observers_pass
from arqlab.labs.permissions import (
    lab_or_404,
    labs_organized_by,
    labs_visible_to,
    may_look_up,
    may_organize,
    organized_lab_or_404,
    organized_task_or_404,
    task_or_404,
)
from arqlab.labs.selectors import roles_in
from arqlab.labs.services.people import grant_role
from arqlab.teams.permissions import may_see_team
from tests.factories import UserFactory, make_lab


@pytest.mark.parametrize(
    ("role", "organizes"),
    [
        ("visitor", False),
        ("outsider", False),
        ("member", False),
        ("other_member", False),
        ("assessor", False),
        ("organizer", True),
        ("superuser", True),
    ],
)
def test_only_organizers_and_superusers_organize(scene, role, organizes):
    assert may_organize(scene.people[role], scene.lab) is organizes


def test_an_organizer_of_one_lab_does_not_organize_another(scene):
    other = make_lab("another")

    assert not may_organize(scene.organizer, other.lab)


@pytest.mark.parametrize("role", ["visitor", "outsider"])
def test_users_without_a_role_get_404_for_a_draft_lab(db, role):
    draft = make_lab("draft", is_public=False)

    assert draft.lab not in labs_visible_to(draft.people[role])
    with pytest.raises(Http404):
        lab_or_404(draft.people[role], "draft")


@pytest.mark.parametrize("role", ["member", "other_member", "assessor", "organizer", "superuser"])
def test_users_with_a_role_see_a_draft_lab(db, role):
    draft = make_lab("draft", is_public=False)

    assert draft.lab in labs_visible_to(draft.people[role])
    assert task_or_404(draft.people[role], "draft", "task1") == draft.task


@pytest.mark.parametrize(
    ("role", "sees"),
    [("visitor", False), ("member", True), ("other_member", False), ("organizer", True)],
)
def test_a_team_is_seen_by_its_members_and_organizers(scene, role, sees):
    assert may_see_team(scene.people[role], scene.team) is sees


def test_members_get_404_for_organizer_pages(scene):
    with pytest.raises(Http404):
        organized_lab_or_404(scene.member, scene.lab.slug)
    with pytest.raises(Http404):
        organized_task_or_404(scene.member, scene.lab.slug, scene.task.slug)


def test_only_organizers_and_assessors_may_search_the_collection(scene):
    allowed = {role for role, person in scene.people.items() if may_look_up(person, scene.lab)}

    assert allowed == {"assessor", "organizer", "superuser"}


def test_an_observer_passes_as_organizer_only_where_the_request_reads(scene):
    observer = UserFactory()
    grant_role(lab=scene.lab, user=observer, role="observer", by=None)
    questions = {
        "organizes": lambda: may_organize(observer, scene.lab),
        "lists": lambda: scene.lab in labs_organized_by(observer),
        "roles": lambda: roles_in(observer, scene.lab).organizes,
    }

    with observers_pass(True):
        assert all(ask() for ask in questions.values())
    with observers_pass(False):
        assert not any(ask() for ask in questions.values())
    assert not any(ask() for ask in questions.values())


def test_an_observer_who_presses_a_button_reads_why_nothing_happens(scene, client):
    observer = UserFactory()
    grant_role(lab=scene.lab, user=observer, role="observer", by=None)
    client.force_login(observer)
    people = "/labs/arqmath-x/people/"
    assert "You observe this lab" in client.get(people).content.decode()

    answer = client.post(people, {"person": observer.username, "role": "organizer"}, follow=True)

    assert "Observers see what organizers see" in answer.content.decode()
    assert not Membership.objects.filter(user=observer, role="organizer").exists()


def test_an_observer_who_also_judges_or_organizes_keeps_those_rights(scene, client):
    for person in (scene.assessor, scene.organizer):
        grant_role(lab=scene.lab, user=person, role="observer", by=None)

    assert may_organize(scene.organizer, scene.lab)
    assert not may_organize(scene.assessor, scene.lab)
    assert may_look_up(scene.assessor, scene.lab)
    assert not roles_in(scene.organizer, scene.lab).only_observes
