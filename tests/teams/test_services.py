"""Users create, join and leave teams."""

import pytest
from django.utils import timezone

from arqlab.core.errors import ConfirmationError, UserError
from arqlab.core.models import AuditEvent, Membership, Team
from arqlab.teams.services import create_team, join_team, leave_team, rename_team, renew_invitation
from submissions.models import Run, Upload
from tests.factories import MemberFactory, TeamFactory, make_lab


def give_a_run(team, task):
    now = timezone.now()
    upload = Upload.objects.create(name="run.tsv", size=1, sha256="0", uploaded_at=now)
    return Run.objects.create(
        task=task,
        team=team,
        upload=upload,
        tag="a",
        submitted_at=now,
        status_changed_at=now,
        status="invalid",
    )


def test_the_creator_of_a_team_is_its_first_member(lab, outsider):
    team = create_team(lab=lab, name="Gamma", by=outsider)

    assert [membership.user for membership in team.memberships.all()] == [outsider]
    assert set(AuditEvent.objects.values_list("verb", flat=True)) == {"team.create", "team.join"}


def test_a_team_can_be_created_for_others(lab, organizer):
    team = create_team(lab=lab, name="Baselines", by=organizer, joins=False)

    assert not team.memberships.exists()


@pytest.mark.parametrize("name", ["Alpha", "alpha", "ALPHA"])
def test_a_team_name_is_unique_in_a_lab_ignoring_case(lab, outsider, name):
    with pytest.raises(UserError, match="already"):
        create_team(lab=lab, name=name, by=outsider)


@pytest.mark.parametrize("name", ["North Lake", "north-lake", "NORTH_LAKE."])
def test_a_name_like_that_of_another_team_needs_a_confirmation(lab, outsider, name):
    TeamFactory(lab=lab, name="NorthLake")
    with pytest.raises(ConfirmationError, match="already has a team named NorthLake") as refused:
        create_team(lab=lab, name=name, by=outsider)
    assert refused.value.code == "team-name-similar"
    with pytest.raises(ConfirmationError):
        create_team(lab=lab, name=name, by=outsider, confirmed="X is not the same team as Y")

    assert create_team(lab=lab, name=name, by=outsider, confirmed=refused.value.question)


@pytest.mark.parametrize("names", [("C++", "C"), ("Été", "Ete"), ("..", "-"), ("राम", "रम")])
def test_names_that_differ_in_letters_and_symbols_are_distinct(lab, organizer, names):
    for name in names:
        assert create_team(lab=lab, name=name, by=organizer)


def test_a_renamed_team_is_audited_with_both_names(team, organizer):
    rename_team(team=team, name="Omega", by=organizer)

    event = AuditEvent.objects.get(verb="team.rename")
    assert (event.target, event.detail, event.actor) == ("Omega", {"earlier": "Alpha"}, organizer)


def test_the_case_and_spaces_of_the_own_name_change_without_a_question(team, member):
    rename_team(team=team, name="AL PHA", by=member)

    assert Team.objects.get(pk=team.pk).name == "AL PHA"


def test_renaming_a_team_to_its_own_name_changes_nothing(team, member):
    rename_team(team=team, name="Alpha", by=member)

    assert not AuditEvent.objects.filter(verb="team.rename").exists()


def test_two_labs_may_have_teams_with_the_same_name(scene, outsider):
    other = make_lab("other")

    assert create_team(lab=other.lab, name="Gamma", by=outsider)
    assert create_team(lab=scene.lab, name="Gamma", by=outsider)


def test_joining_twice_changes_nothing(team, outsider):
    join_team(team=team, user=outsider)
    join_team(team=team, user=outsider)

    assert Membership.objects.filter(user=outsider).count() == 1
    assert AuditEvent.objects.filter(verb="team.join").count() == 1


def test_a_person_may_be_in_several_teams(team, other_team, outsider):
    join_team(team=team, user=outsider)
    join_team(team=other_team, user=outsider)

    assert set(Team.objects.filter(memberships__user=outsider)) == {team, other_team}


def test_a_member_can_leave(team, member):
    MemberFactory(team=team)

    leave_team(team=team, user=member, by=member)

    assert not Membership.objects.filter(user=member).exists()
    assert AuditEvent.objects.get().verb == "team.leave"


def test_a_team_without_members_is_deleted(team, member):
    leave_team(team=team, user=member, by=member)

    assert not Team.objects.filter(pk=team.pk).exists()
    assert AuditEvent.objects.filter(verb="team.delete", target="Alpha").exists()


def test_the_last_member_of_a_team_with_runs_cannot_leave(team, task, member):
    give_a_run(team, task)

    with pytest.raises(UserError, match="Invite another member first"):
        leave_team(team=team, user=member, by=member)

    assert Membership.objects.filter(team=team, user=member).exists()
    assert not AuditEvent.objects.exists()


def test_a_user_outside_the_team_cannot_leave(team, outsider):
    with pytest.raises(UserError, match="is not a member"):
        leave_team(team=team, user=outsider, by=outsider)


def test_an_organizer_removes_a_member(team, member, organizer):
    MemberFactory(team=team)

    leave_team(team=team, user=member, by=organizer)

    event = AuditEvent.objects.get()
    assert (event.verb, event.actor, event.detail["person"]) == (
        "team.remove-member",
        organizer,
        member.username,
    )


def test_a_new_invitation_link_invalidates_the_old_one(team, member):
    old = team.invitation_token

    renew_invitation(team=team, by=member)

    team.refresh_from_db()
    assert team.invitation_token != old
