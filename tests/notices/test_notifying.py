"""Notices are stored with the event, once for each user, and queued as mail if mail is set up."""

import pytest

from arqlab.notices.models import Kind, Mail, Notice
from arqlab.notices.services.notifying import notify, set_mail_preference


@pytest.fixture
def tell(lab):
    """Return a function that notifies people of a released leaderboard."""

    def tell(*people, key="released 1", **values):
        return notify(
            lab,
            Kind.LEADERBOARD_RELEASED,
            people,
            path="/labs/arqmath-x/",
            key=key,
            **{"task": "Task 1", "version": "2", "runs": "3 runs", "measure": "P@5"} | values,
        )

    return tell


@pytest.fixture
def sends_mail(settings):
    settings.SENDS_MAIL, settings.SITE_URL = True, "https://lab.example.org"


def test_a_notice_has_the_text_of_its_kind(lab, member, tell):
    [notice] = tell(member)

    assert notice.subject == "Task 1: leaderboard released"
    assert f"Task 1 in {lab.name} is released (version 2). It lists 3 runs" in notice.text
    assert (notice.mail, notice.read_at) == (None, None)


def test_a_user_is_notified_of_an_event_once(member, assessor, tell):
    tell(member)

    assert [notice.user for notice in tell(member, assessor)] == [assessor]
    assert len(tell(member, key="released 2")) == 1


def test_a_user_gets_one_email_about_an_event(member, assessor, tell, sends_mail):
    tell(member)
    tell(member, assessor)
    tell(member, assessor)

    assert sorted(Mail.objects.values_list("address", flat=True)) == sorted(
        [member.email, assessor.email]
    )
    assert Notice.objects.count() == 2


def test_without_a_mail_server_no_mail_is_queued(member, tell):
    tell(member)

    assert not Mail.objects.exists()


def test_with_a_mail_server_each_user_gets_an_email_with_the_link(
    member, assessor, tell, sends_mail
):
    tell(member, assessor)

    assert set(Mail.objects.values_list("address", flat=True)) == {member.email, assessor.email}
    mail = Notice.objects.get(user=member).mail
    assert mail.subject == "[The lab arqmath-x] Task 1: leaderboard released"
    assert mail.state == "queued"
    assert "\n\nhttps://lab.example.org/labs/arqmath-x/\n\n-- \n" in mail.text
    assert mail.text.endswith("https://lab.example.org/account/\n")


def test_who_turned_off_email_or_has_no_address_gets_the_notice_only(
    member, assessor, organizer, tell, sends_mail
):
    set_mail_preference(user=member, gets_mail=False)
    assessor.email = ""
    assessor.save()

    assert [n.mail and n.mail.address for n in tell(member, assessor, organizer)] == [
        None,
        None,
        organizer.email,
    ]


def test_inactive_users_are_not_notified(member, tell):
    member.is_active = False

    assert tell(member) == []


def test_line_breaks_and_length_of_a_name_cannot_break_the_subject(member, tell, sends_mail):
    [notice] = tell(member, task="Task\r\nBcc: all@example.org " + "x" * 400)

    assert notice.mail.subject.startswith("[The lab arqmath-x] Task Bcc: all@example.org x")
    assert len(notice.mail.subject) == 300


def test_braces_in_values_are_kept(member, tell):
    [notice] = tell(member, task="the task {lab}")

    assert notice.subject == "the task {lab}: leaderboard released"
