"""Organizers invite addresses to roles and teams. Each link works once."""

import re
from html import unescape

import pytest
from django.core import mail as outbox

from arqlab.core.errors import UserError
from arqlab.core.models import AuditEvent, Membership, Team
from arqlab.notices.models import Invitation, Mail
from arqlab.notices.services.invitations import accept_invitation, invite_people
from arqlab.notices.tasks import send_mail
from tests.desk.views.test_home import text_of
from tests.factories import TeamFactory

LIST = "/labs/arqmath-x/invitations/"


@pytest.fixture
def browser(client_of, organizer):
    return client_of(organizer)


@pytest.fixture
def sends_mail(settings):
    settings.SENDS_MAIL, settings.SITE_URL = True, "https://lab.example.org"


@pytest.fixture
def outsider(outsider):
    """Ada, who has not confirmed her address."""
    outsider.emailaddress_set.all().delete()
    outsider.email = "ada@example.org"
    outsider.save()
    return outsider


def invited(browser, addresses="ada@example.org", role="assessor") -> str:
    response = browser.post(LIST, {"addresses": addresses, "role": role}, follow=True)
    return text_of(response)


@pytest.mark.parametrize(
    "pasted",
    [
        "Name A <a@example.org>, b@example.org",
        "b@example.org, Name A <a@example.org>",
        "b@example.org Name A <a@example.org>",
        "Name A <a@example.org> b@example.org",
        "Name A <a@example.org>; Name B <b@example.org>",
        "Name A <a@example.org>\nb@example.org\n",
    ],
)
def test_everybody_whose_address_was_pasted_is_invited(browser, pasted):
    page = invited(browser, pasted)

    assert "2 people invited." in page
    addresses = Invitation.objects.values_list("address", flat=True)
    assert set(addresses) == {"a@example.org", "b@example.org"}


def test_what_is_not_an_address_is_reported_with_its_line(browser):
    page = invited(browser, "Name A <a@example.org>, Bob\nb@example.org\nada, c@example.org")

    assert "Not an email address: Bob (line 1), ada (line 3)." in page
    assert not Invitation.objects.exists()


def test_an_address_that_is_pasted_twice_is_reported(browser):
    page = invited(browser, "ada@example.org, ada@example.org\nAda <ADA@example.org>, eve@x.org")

    assert "2 people invited." in page
    again = "ada@example.org (line 1), ADA@example.org (line 2)"
    assert f"Listed again, and invited once: {again}." in page


def test_an_invited_person_signs_up_and_becomes_an_assessor(browser, sends_mail, client, lab):
    invited(browser)
    send_mail()
    path = re.search(r"\nhttps://lab\.example\.org(/invitations/\S+/)\n", outbox.outbox[0].body)[1]
    signup = re.search(r'href="(/accounts/signup/[^"]+)"', text_of(client.get(path)))[1]
    form = text_of(client.get(unescape(signup)))
    assert f'name="next" value="{path}"' in form
    assert 'value="ada@example.org"' in form
    ada = {"email": "ada@example.org", "username": "ada", "password1": "a quiet blackboard 7"}
    client.post("/accounts/signup/", ada | {"next": path})

    page = text_of(client.post(path, follow=True))

    assert "You are now an assessor in The lab arqmath-x." in page
    role = Membership.objects.get(user__username="ada")
    assert (role.lab, role.role) == (lab, "assessor")
    assert "Accepted</span>" in text_of(browser.get(LIST))


def test_the_email_names_the_lab_the_role_and_who_invites(browser, sends_mail, organizer, team):
    invited(browser, role=f"team-{team.pk}")

    mail = Mail.objects.get()
    assert (mail.subject, mail.address) == ("Invitation to The lab arqmath-x", "ada@example.org")
    assert f"{organizer.name} invites you to The lab arqmath-x as a member of Alpha." in mail.text
    assert mail.reply_to == organizer.email


def test_an_invitation_to_a_team_leads_to_the_team(browser, team, outsider, client_of):
    invited(browser, role=f"team-{team.pk}")
    response = client_of(outsider).post(f"/invitations/{Invitation.objects.get().token}/")

    assert response.url == f"/labs/arqmath-x/teams/{team.pk}/"
    assert team.memberships.filter(user=outsider).exists()


NEW_TEAM = {"addresses": "ada@example.org", "role": "new-team", "team_name": "NorthLake"}


def test_an_invitation_creates_a_team_that_the_organizer_does_not_join(
    browser, outsider, organizer, client_of, lab
):
    page = text_of(browser.post(LIST, NEW_TEAM, follow=True))
    team = lab.teams.get(name="NorthLake")
    assert "Member of NorthLake" in page
    assert not team.memberships.exists()
    assert AuditEvent.objects.get(verb="team.create").actor == organizer

    response = client_of(outsider).post(f"/invitations/{Invitation.objects.get().token}/")

    assert response.url == f"/labs/arqmath-x/teams/{team.pk}/"
    assert [member.user for member in team.memberships.all()] == [outsider]


def test_a_team_name_like_another_teams_is_questioned_first(browser, lab, team):
    Team.objects.filter(pk=team.pk).update(name="North Lake")

    page = text_of(browser.post(LIST, NEW_TEAM))
    assert "North Lake" in re.search(r'name="confirm".*?</label>', page, re.DOTALL)[0]
    assert not Invitation.objects.exists()
    assert not lab.teams.filter(name="NorthLake").exists()

    question = unescape(re.search(r'name="confirm"[^>]*value="([^"]+)"', page)[1])
    browser.post(LIST, NEW_TEAM | {"confirm": question})
    assert Invitation.objects.get().team.name == "NorthLake"


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({"team_name": ""}, "Enter a name for the new team."),
        ({"team_name": "alpha"}, "has a team"),
        ({"team_name": "x" * 81}, "at most 80 characters"),
        ({"role": "assessor"}, 'Choose "Member of a new team" above, or clear the team name.'),
        ({"addresses": "ada@"}, "Not an email address: ada@ (line 1)."),
    ],
)
def test_a_wrong_new_team_invites_nobody_and_creates_nothing(browser, lab, form, message):
    page = unescape(text_of(browser.post(LIST, NEW_TEAM | form)))

    assert message in page
    assert not Invitation.objects.exists()
    assert {team.name for team in lab.teams.all()} == {"Alpha", "Beta"}


@pytest.mark.parametrize("role", ["assessor", "organizer"])
def test_only_the_invited_address_accepts(browser, member, client_of, role):
    invited(browser, role=role)
    invitation = Invitation.objects.get()
    page = text_of(client_of(member).post(f"/invitations/{invitation.token}/", follow=True))

    assert "This invitation is for ada@example.org." in page
    assert not Membership.objects.filter(user=member, role=role).exists()
    invitation.refresh_from_db()
    assert invitation.state == "open"


def test_a_second_address_that_the_account_confirmed_accepts(browser, member, client_of):
    member.emailaddress_set.create(email="ada@example.org", verified=True)
    invited(browser, role="organizer")
    client_of(member).post(f"/invitations/{Invitation.objects.get().token}/")

    assert Membership.objects.filter(user=member, role="organizer").exists()


def test_the_link_confirms_the_address_that_it_was_sent_to(browser, outsider, client_of):
    invited(browser)
    client_of(outsider).post(f"/invitations/{Invitation.objects.get().token}/")

    assert outsider.emailaddress_set.get(email="ada@example.org").verified


def test_a_link_works_once(browser, outsider, other_member, client_of, lab):
    invited(browser)
    path = f"/invitations/{Invitation.objects.get().token}/"
    client_of(outsider).post(path)
    page = text_of(client_of(other_member).post(path, follow=True))

    assert "This invitation has already been used." in page
    assert not Membership.objects.filter(user=other_member, role="assessor").exists()
    assert "You accepted this invitation." in text_of(client_of(outsider).get(path))


def test_a_withdrawn_link_stops_working(browser, outsider, client_of):
    invited(browser)
    invitation = Invitation.objects.get()
    page = text_of(browser.post(f"{LIST}{invitation.pk}/withdraw/", follow=True))
    assert "The link of ada@example.org no longer works." in page

    page = client_of(outsider).post(f"/invitations/{invitation.token}/", follow=True)
    assert "was withdrawn" in text_of(page)
    assert not Membership.objects.filter(user=outsider).exists()


def test_an_accepted_invitation_cannot_be_withdrawn(browser, outsider):
    invited(browser)
    invitation = Invitation.objects.get()
    accept_invitation(invitation=invitation, user=outsider)
    page = text_of(browser.post(f"{LIST}{invitation.pk}/withdraw/", follow=True))

    assert "already been used" in page
    invitation.refresh_from_db()
    assert invitation.state == "accepted"


def test_the_same_addresses_are_invited_once(browser, assessor):
    invited(browser)
    page = invited(browser, f"ADA@example.org bob@example.org {assessor.email.upper()}")

    assert "1 person invited." in page
    assert "Already invited: ADA@example.org." in page
    assert f"Already have the role: {assessor.email.upper()}." in page
    assert Invitation.objects.count() == 2
    assert AuditEvent.objects.filter(verb="invitation.create").count() == 2


def test_an_address_may_be_invited_to_two_teams_and_again_after_a_withdrawal(
    lab, team, other_team, organizer
):
    for chosen in (team, other_team):
        invite_people(
            lab=lab, addresses=["ada@example.org"], role="member", team=chosen, by=organizer
        )
    Invitation.objects.update(withdrawn_at="2026-05-01T00:00Z")
    again = invite_people(
        lab=lab, addresses=["ada@example.org"], role="member", team=team, by=organizer
    )

    assert (len(again.new), Invitation.objects.count()) == (1, 3)


def test_one_wrong_address_invites_nobody_and_is_named(browser):
    page = invited(browser, "ada@example.org ada@ @example.org")

    assert "Not an email address: ada@ (line 1), @example.org (line 1)." in page
    assert not Invitation.objects.exists()


def test_too_many_addresses_are_refused(browser):
    page = invited(browser, "\n".join(f"a{number}@example.org" for number in range(501)))

    assert "501 addresses are too many. Invite at most 500 at once." in page


def test_people_cannot_be_invited_to_a_team_of_another_lab(browser):
    invited(browser, role=f"team-{TeamFactory().pk}")

    assert not Invitation.objects.exists()


def test_without_a_mail_server_the_page_says_so_and_shows_the_links(browser):
    page = invited(browser)

    assert "1 person invited. Nothing was sent. Pass on the links below." in page
    assert f'value="http://testserver/invitations/{Invitation.objects.get().token}/"' in page
    assert "Send again" not in page
    assert not Mail.objects.exists()


def test_an_open_invitation_is_sent_again_with_the_same_link(browser, sends_mail, outsider):
    invited(browser)
    invitation = Invitation.objects.get()
    resend = f"{LIST}{invitation.pk}/resend/"
    browser.post(resend)
    assert Mail.objects.filter(text__contains=invitation.token).count() == 2

    accept_invitation(invitation=invitation, user=outsider)
    assert "already been used" in text_of(browser.post(resend, follow=True))


def test_an_invitation_is_not_sent_again_without_a_mail_server(browser):
    invited(browser)
    page = browser.post(f"{LIST}{Invitation.objects.get().pk}/resend/", follow=True)

    assert "This server sends no email." in text_of(page)


def test_an_invitation_that_is_accepted_twice_at_once_is_used_once(lab, organizer, outsider):
    [invitation] = invite_people(
        lab=lab, addresses=["ada@example.org"], role="assessor", team=None, by=organizer
    ).new
    accept_invitation(invitation=invitation, user=outsider)

    # `invitation` is as it was read before it was accepted in another tab.
    with pytest.raises(UserError, match="already been used"):
        accept_invitation(invitation=invitation, user=outsider)


def test_invitations_are_searched_filtered_sorted_and_paged(browser, django_assert_max_num_queries):
    invited(browser, "zoe@example.org", role="organizer")
    invited(browser, " ".join(f"person{number}@example.org" for number in range(120)))

    def found(query: str) -> tuple[bool, str]:
        with django_assert_max_num_queries(9):
            html = text_of(browser.get(f"{LIST}?{query}"))
        return "Copy the link for zoe@example.org" in html, re.findall(r"(\d+) rows?", html)[0]

    assert [found(query) for query in ("", "page=2")] == [(False, "121"), (True, "121")]
    for query in ("sort=-address", "sort=invited"):
        assert found(query) == (True, "121")
    for query in ("q=ZOE", "role=organizer"):
        assert found(query) == (True, "1")
    assert found("q=zoe&role=assessor") == (False, "0")
