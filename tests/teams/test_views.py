"""Making, joining and leaving a team, through the door."""

import pytest
from django.core.management import call_command
from django.test import Client

from arqlab.core.models import AuditEvent, Membership, Team
from arqlab.teams.services import join_team
from tests.desk.views.test_home import text_of
from tests.factories import MemberFactory, UserFactory

NEW = "/labs/arqmath-x/teams/new/"


def at(team, page=""):
    return f"/labs/{team.lab.slug}/teams/{team.pk}/{page}"


def invitation(team):
    return f"/join/{team.invitation_token}/"


def test_a_person_makes_a_team_and_is_in_it(scene, client_of):
    response = client_of(scene.outsider).post(NEW, {"name": "Gamma"}, follow=True)

    team = Team.objects.get(name="Gamma")
    assert response.redirect_chain == [(at(team), 302)]
    assert Membership.objects.filter(team=team, user=scene.outsider).exists()
    assert invitation(team) in text_of(response)


def test_a_team_needs_a_confirmed_address(scene, client_of):
    unconfirmed = UserFactory(has_verified_address=False)
    browser = client_of(unconfirmed)

    for response in (browser.get(NEW), browser.post(NEW, {"name": "Gamma"})):
        assert "Confirm your email address before you create a team." in text_of(response)
    assert not Team.objects.filter(name="Gamma").exists()

    call_command("confirm_address", unconfirmed.username)
    browser.post(NEW, {"name": "Gamma"})
    assert Team.objects.get(name="Gamma").created_by == unconfirmed


def test_a_person_creates_one_team_per_lab(scene, client_of):
    browser = client_of(scene.outsider)
    browser.post(NEW, {"name": "Gamma"})
    first = Team.objects.get(name="Gamma")
    join_team(team=first, user=scene.other_member)
    browser.post(at(first, "leave/"))

    refused = text_of(browser.post(NEW, {"name": "Delta"}))
    assert "You already created Gamma in The lab arqmath-x." in refused
    assert not Team.objects.filter(name="Delta").exists()


def test_an_organizer_creates_more_teams(scene, client_of):
    for name in ("Gamma", "Delta"):
        client_of(scene.organizer).post(NEW, {"name": name})

    assert Team.objects.filter(created_by=scene.organizer).count() == 2


def test_a_team_deleted_by_its_last_member_does_not_count(scene, client_of):
    browser = client_of(scene.outsider)
    browser.post(NEW, {"name": "Gamma"})
    browser.post(at(Team.objects.get(name="Gamma"), "leave/"))

    browser.post(NEW, {"name": "Delta"})
    assert Team.objects.filter(name="Delta").exists()


def test_a_taken_name_is_an_error_of_the_form(scene, client_of):
    response = client_of(scene.outsider).post(NEW, {"name": " alpha "})

    assert '<a href="#id_name">The lab arqmath-x already has a team named alpha.' in text_of(
        response
    )


def test_a_name_like_another_is_confirmed_with_a_checkbox(scene, client_of):
    browser = client_of(scene.outsider)
    refused = text_of(browser.post(NEW, {"name": "Al-pha"}))
    question = "Al-pha is not the same team as Alpha"
    assert f'name="confirm" id="id_confirm" value="{question}"' in refused
    assert not Team.objects.filter(name="Al-pha").exists()

    browser.post(NEW, {"name": "Al-pha", "confirm": question})
    assert Team.objects.filter(name="Al-pha").exists()


@pytest.mark.parametrize("role", ["member", "organizer"])
def test_a_team_is_renamed_on_its_page(scene, client_of, role):
    browser = client_of(scene.people[role])
    assert f'href="{at(scene.team, "edit/")}"' in text_of(browser.get(at(scene.team)))
    assert 'value="Alpha"' in text_of(browser.get(at(scene.team, "edit/")))

    response = browser.post(at(scene.team, "edit/"), {"name": "Omega"}, follow=True)
    assert "Team Omega saved." in text_of(response)
    assert Team.objects.get(pk=scene.team.pk).name == "Omega"


@pytest.mark.parametrize("name", ["BETA", "Be ta"])
def test_a_team_does_not_take_the_name_of_another(scene, client_of, name):
    response = client_of(scene.member).post(at(scene.team, "edit/"), {"name": name})

    assert '<a href="#id_name">The lab arqmath-x already has a team named' in text_of(response)
    assert "<h1>Edit Alpha</h1>" in text_of(response)
    assert Team.objects.get(pk=scene.team.pk).name == "Alpha"


def test_a_team_is_not_found_below_another_lab(scene, client_of):
    assert client_of(scene.member).get(f"/labs/other/teams/{scene.team.pk}/").status_code == 404


def test_an_invitation_shows_a_visitor_what_is_joined_and_the_ways_in(scene, client):
    page = text_of(client.get(invitation(scene.team)))

    assert "Join Alpha" in page
    assert scene.lab.name in page
    assert f"/accounts/signup/?next={invitation(scene.team)}" in page
    assert f"/accounts/login/?next={invitation(scene.team)}" in page


def test_reading_an_invitation_joins_nobody(scene, client_of):
    client_of(scene.outsider).get(invitation(scene.team))

    assert not Membership.objects.filter(user=scene.outsider).exists()


def test_pressing_the_button_joins(scene, client_of):
    response = client_of(scene.outsider).post(invitation(scene.team))

    assert response.url == at(scene.team)
    assert Membership.objects.filter(user=scene.outsider, team=scene.team).exists()


def test_a_visitor_who_presses_the_button_signs_in_first(scene, client):
    assert (
        client.post(invitation(scene.team)).url == f"/accounts/login/?next={invitation(scene.team)}"
    )


def test_a_member_gets_a_message(scene, client_of):
    assert "already" in text_of(client_of(scene.member).get(invitation(scene.team)))


def test_joining_needs_the_csrf_token(scene):
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(scene.outsider)

    assert browser.post(invitation(scene.team)).status_code == 403


def test_a_renewed_link_ends_the_old_one(scene, client_of):
    old = invitation(scene.team)

    client_of(scene.member).post(at(scene.team, "renew/"))

    assert client_of(scene.outsider).get(old).status_code == 404


def test_a_member_leaves(scene, client_of):
    MemberFactory(team=scene.team)

    response = client_of(scene.member).post(at(scene.team, "leave/"), follow=True)

    assert "You left Alpha." in text_of(response)
    assert not Membership.objects.filter(user=scene.member).exists()


def test_an_organizer_who_is_no_member_cannot_leave(scene, client_of):
    response = client_of(scene.organizer).post(at(scene.team, "leave/"), follow=True)

    assert "is not a member of Alpha" in text_of(response)


def test_an_organizer_removes_a_member(scene, client_of):
    MemberFactory(team=scene.team)

    client_of(scene.organizer).post(at(scene.team, f"members/{scene.member.pk}/remove/"))

    assert not Membership.objects.filter(user=scene.member).exists()


@pytest.mark.parametrize("page", ["renew/", "leave/", "members/1/remove/"])
def test_changes_are_never_made_by_reading(scene, client_of, page):
    before = (scene.team.invitation_token, scene.team.memberships.count())
    response = client_of(scene.member).get(at(scene.team, page))
    scene.team.refresh_from_db()

    assert (response.status_code, response["Location"]) == (302, at(scene.team))
    assert (scene.team.invitation_token, scene.team.memberships.count()) == before


@pytest.mark.parametrize("page", ["renew/", "leave/"])
def test_another_teams_member_changes_nothing(scene, client_of, page):
    assert client_of(scene.other_member).post(at(scene.team, page)).status_code == 404


def test_a_team_takes_as_many_queries_for_many_members(
    scene, client_of, django_assert_max_num_queries
):
    for _ in range(5):
        MemberFactory(team=scene.team)

    browser = client_of(scene.member)
    with django_assert_max_num_queries(8):
        browser.get(at(scene.team))


def test_a_team_enters_its_affiliation_and_publication(scene, client_of):
    member = client_of(scene.member)
    details = {
        "affiliation": "University of Ljubljana",
        "paper": "https://example.org/paper.pdf",
        "code": "example.org/code",
        "citation": "@inproceedings{alpha}",
    }
    page = text_of(member.post(at(scene.team, "edit/"), {"name": "Alpha", **details}, follow=True))

    assert "Team Alpha saved." in page
    assert all(text in page for text in details.values())
    changes = AuditEvent.objects.get(verb="team.change").detail["changes"]
    assert changes["code"] == ["", "https://example.org/code"]
    assert AuditEvent.objects.filter(verb="team.rename").count() == 0


def test_an_address_that_is_none_is_refused_and_nothing_changes(scene, client_of):
    member = client_of(scene.member)
    given = {"name": "Omega", "paper": "javascript:alert(1)", "citation": "kept"}
    page = text_of(member.post(at(scene.team, "edit/"), given))

    assert "Enter a valid URL." in page
    assert "kept" in page
    scene.team.refresh_from_db()
    assert scene.team.name == "Alpha"
