"""The pages of a lab, and of its people, through the door."""

import re

import pytest
from django.utils import timezone

from arqlab.audit.services.recording import record_event
from arqlab.core.models import AuditEvent, Lab, Membership
from arqlab.labs.permissions import may_organize
from tests.desk.views.test_home import text_of
from tests.factories import MemberFactory, TaskFactory, TeamFactory, UserFactory, make_lab

PEOPLE = "/labs/arqmath-x/people/"


def test_the_list_of_labs_shows_states_and_takes_four_queries(
    scene, client, django_assert_max_num_queries
):
    make_lab("another")
    with django_assert_max_num_queries(4):
        page = text_of(client.get("/labs/"))

    assert page.count("chip-open") == 2


@pytest.mark.parametrize(
    ("role", "said"),
    [
        ("visitor", "Sign up to take part"),
        ("outsider", "Create team"),
        ("member", "Your role: member of Alpha."),
        ("assessor", "Your role: assessor."),
        ("organizer", ">Settings</a>"),
        ("superuser", ">Settings</a>"),
    ],
)
def test_a_lab_shows_each_role_what_to_do(scene, client_of, role, said):
    assert said in text_of(client_of(scene.people[role]).get("/labs/arqmath-x/"))


@pytest.mark.parametrize("role", ["visitor", "outsider"])
def test_a_closed_lab_invites_nobody_to_take_part(scene, client_of, role):
    scene.lab.tasks.update(closed_at=timezone.now())

    page = text_of(client_of(scene.people[role]).get("/labs/arqmath-x/"))

    assert "Sign up to take part" not in page
    assert ">Create team</a>" not in page


def test_a_lab_takes_as_many_queries_for_many_tasks_and_teams(
    scene, client_of, django_assert_max_num_queries
):
    for _ in range(5):
        TaskFactory(lab=scene.lab)
        TeamFactory(lab=scene.lab)

    browser = client_of(scene.member)
    with django_assert_max_num_queries(11):
        browser.get("/labs/arqmath-x/")


def test_a_draft_shows_who_sees_it(db, client_of):
    draft = make_lab("draft", is_public=False)

    assert "This lab is a draft." in text_of(client_of(draft.organizer).get("/labs/draft/"))


def test_an_organizer_edits_the_lab(scene, client_of):
    form = {"name": "ARQMath-X", "description": "New."}

    client_of(scene.organizer).post("/labs/arqmath-x/edit/", form)

    lab = Lab.objects.get()
    assert (lab.name, lab.description, lab.is_public) == ("ARQMath-X", "New.", False)


def test_a_lab_without_a_name_is_sent_back_with_a_summary(scene, client_of):
    response = client_of(scene.organizer).post("/labs/arqmath-x/edit/", {"name": ""})

    assert '<a href="#id_name">Enter a lab name.</a>' in text_of(response)


@pytest.mark.parametrize("named", ["{0.email}", "{0.username}"])
def test_an_organizer_grants_a_role_by_address_or_name(scene, client_of, named):
    person = UserFactory(email="Ada@Example.org")

    client_of(scene.organizer).post(PEOPLE, {"person": named.format(person), "role": "organizer"})

    assert may_organize(person, scene.lab)


def test_a_user_name_that_looks_like_anothers_address_is_not_taken_for_it(scene, client_of):
    impostor = UserFactory(username="ada@example.org", email="eve@example.org")

    response = client_of(scene.organizer).post(
        PEOPLE, {"person": "ada@example.org", "role": "organizer"}
    )

    assert "No account found for ada@example.org." in text_of(response)
    assert not may_organize(impostor, scene.lab)


@pytest.mark.parametrize("role", ["organizer", "assessor"])
def test_an_account_without_a_confirmed_address_gets_no_role(scene, client_of, role):
    person = UserFactory(username="professor", has_verified_address=False)
    page = client_of(scene.organizer).post(PEOPLE, {"person": "professor", "role": role})

    assert "professor has not confirmed an email address." in text_of(page)
    assert not Membership.objects.filter(user=person).exists()


def test_an_organizer_revokes_a_role(scene, client_of):
    form = {"person": scene.assessor.pk, "role": "assessor"}

    response = client_of(scene.organizer).post(PEOPLE + "revoke/", form, follow=True)

    assert "is no longer assessor" in text_of(response)
    assert not Membership.objects.filter(user=scene.assessor).exists()


def test_revoking_the_last_organizer_is_explained(scene, client_of):
    form = {"person": scene.organizer.pk, "role": "organizer"}

    response = client_of(scene.organizer).post(PEOPLE + "revoke/", form, follow=True)

    assert "Add another organizer first." in text_of(response)


def test_revoking_nobody_is_explained(scene, client_of):
    response = client_of(scene.organizer).post(PEOPLE + "revoke/", {}, follow=True)

    assert "No person selected." in text_of(response)


def test_people_take_as_many_queries_for_many_teams(
    scene, client_of, django_assert_max_num_queries
):
    for _ in range(5):
        MemberFactory(team=TeamFactory(lab=scene.lab))

    browser = client_of(scene.organizer)
    with django_assert_max_num_queries(9):
        page = text_of(browser.get(PEOPLE))

    assert "Alpha" in page
    assert scene.assessor.email in page


def test_the_audit_shows_who_did_what(scene, client_of):
    record_event(
        "task.change", "x/task1", scene.organizer, lab=scene.lab, changes={"quota": [5, 7]}
    )

    page = text_of(client_of(scene.organizer).get("/labs/arqmath-x/audit/"))

    assert "task.change" in page
    assert "quota: 5 → 7" in page


def test_the_audit_shows_one_kind_of_event_and_pages(
    scene, client_of, django_assert_max_num_queries
):
    for number in range(150):
        record_event("run.submit", f"run {number}", scene.member, lab=scene.lab)
    record_event("team.join", "Alpha", None, lab=scene.lab)

    browser = client_of(scene.organizer)
    with django_assert_max_num_queries(9):
        page = text_of(browser.get("/labs/arqmath-x/audit/?verb=run"))

    assert "Page 1 of 2" in page
    assert "Alpha" not in page


def test_the_audit_is_searched_and_sorted_on_all_pages(scene, client_of):
    for number in range(150):
        record_event("run.submit", f"run {number}", scene.member, lab=scene.lab)
    browser = client_of(scene.organizer)

    def targets(query):
        found = re.findall(
            r"<td[^>]*>\s*(run \d+)\s*<", browser.get(f"/labs/arqmath-x/audit/{query}").text
        )
        return found[0], found[-1], len(found)

    assert targets("") == ("run 149", "run 50", 100)
    assert targets("?sort=when&page=2") == ("run 100", "run 149", 50)
    assert targets(f"?q=119+{scene.member.username}") == ("run 119", "run 119", 1)
    assert targets("?sort=nonsense&verb=nonsense&page=x") == ("run 149", "run 50", 100)


def test_the_audit_of_one_lab_does_not_show_another(scene, client_of):
    other = make_lab("other")
    record_event("team.join", "Elsewhere", None, lab=other.lab)

    assert "Elsewhere" not in text_of(client_of(scene.organizer).get("/labs/arqmath-x/audit/"))
    assert AuditEvent.objects.count() == 1
