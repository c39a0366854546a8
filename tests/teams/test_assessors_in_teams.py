"""An assessor is in no team of the same lab, by any entry point, unless an organizer allows it."""

import pytest
from django.urls import reverse

from arqlab.core.models import AuditEvent, Membership
from arqlab.notices.models import Invitation
from arqlab.notices.services.invitations import invite_people
from assessment.rounds.services.rounds import renew_link
from tests.assessment.factories import make_pool
from tests.assessment.rounds.factories import round_of
from tests.factories import AssessorFactory, make_lab

PEOPLE = "/labs/arqmath-x/people/"


def by_link(scene, client_of, person):
    path = reverse("teams:team-join", args=[scene.team.invitation_token])
    return client_of(person).post(path, follow=True)


def by_new_team(scene, client_of, person):
    return client_of(person).post("/labs/arqmath-x/teams/new/", {"name": "Gamma"}, follow=True)


def invited_as(scene, client_of, person, **place):
    invite_people(lab=scene.lab, addresses=[person.email], by=scene.organizer, **place)
    path = reverse("notices:invitation-accept", args=[Invitation.objects.latest("pk").token])
    return client_of(person).post(path, follow=True)


def by_invitation_to_a_team(scene, client_of, person):
    return invited_as(scene, client_of, person, role="member", team=scene.team)


def by_form(scene, client_of, person, **confirm):
    form = {"person": person.username, "role": "assessor", **confirm}
    return client_of(scene.organizer).post(PEOPLE, form, follow=True)


def by_invitation_as_assessor(scene, client_of, person):
    return invited_as(scene, client_of, person, role="assessor", team=None)


def by_sample_task(scene, client_of, person):
    make_pool(scene.task)
    made = round_of(scene.task, "sample", scene.organizer, source={"expert": scene.organizer.pk})
    renew_link(round_=made, by=scene.organizer)
    made.refresh_from_db()
    client_of(person).post(reverse("assessment:sample-join", args=[made.token]))
    address = reverse("assessment:sample-rate", args=["arqmath-x", "task1", "sample-1", person.pk])
    given = {"score": 80, "note": "", "decision": "accepted"}
    return client_of(scene.organizer).post(address, given, follow=True)


JOINS = [by_link, by_new_team, by_invitation_to_a_team]
GRANTS = [by_form, by_invitation_as_assessor, by_sample_task]


def roles(person) -> set[str]:
    return set(Membership.objects.filter(user=person).values_list("role", flat=True))


@pytest.mark.parametrize("door", JOINS)
def test_an_assessor_joins_and_creates_no_team(scene, client_of, assessor, door):
    page = door(scene, client_of, assessor).text

    assert "Assessors do not join or create teams" in page
    assert roles(assessor) == {"assessor"}
    assert not Invitation.objects.filter(accepted_by=assessor).exists()


@pytest.mark.parametrize("door", JOINS)
def test_an_assessor_whom_an_organizer_allows_is_in_a_team(scene, client_of, assessor, door):
    organizer = client_of(scene.organizer)
    assert (
        "may now be in a team"
        in organizer.post(f"{PEOPLE}{assessor.pk}/allow-team/", follow=True).text
    )
    door(scene, client_of, assessor)

    assert roles(assessor) == {"assessor", "member"}
    assert AuditEvent.objects.filter(verb="role.allow-team", actor=scene.organizer).exists()


@pytest.mark.parametrize("door", GRANTS)
def test_a_team_member_is_not_made_an_assessor(scene, client_of, member, door):
    page = door(scene, client_of, member).text

    assert "Team members do not judge, unless an organizer confirms it" in page
    assert roles(member) == {"member"}


def test_an_organizer_confirms_that_a_team_member_judges(scene, client_of, member):
    question = f"{member.username} may judge, although they are in the team Alpha"
    assert question in by_form(scene, client_of, member, confirm="another question").text
    by_form(scene, client_of, member, confirm=question)

    assert roles(member) == {"assessor", "member"}
    assert AuditEvent.objects.get(verb="role.grant").detail["may_join_team"]


def test_a_member_who_was_confirmed_on_the_people_page_is_accepted_from_a_sample_task(
    scene, client_of, member
):
    by_form(
        scene, client_of, member, confirm=f"{member} may judge, although they are in the team Alpha"
    )

    assert "Saved for" in by_sample_task(scene, client_of, member).text


def test_an_assessor_of_one_lab_is_in_a_team_of_another(scene, client_of):
    elsewhere = AssessorFactory(lab=make_lab("other").lab).user
    by_link(scene, client_of, elsewhere)

    assert roles(elsewhere) == {"assessor", "member"}
