"""The first page for everybody, the account, and health."""

from datetime import timedelta

import pytest
from django.utils import timezone

from arqlab.core.models import AuditEvent, Task
from arqlab.teams.services import join_team
from tests.factories import LabFactory, TaskFactory, make_lab


def text_of(response) -> str:
    return " ".join(response.content.decode().split())


def test_a_visitor_reads_what_arqlab_is_and_sees_public_labs(scene, client):
    make_lab("secret", is_public=False)

    page = text_of(client.get("/"))

    assert "How a lab works" in page
    assert scene.lab.name in page
    assert "secret" not in page


def test_home_shows_what_will_be_there_when_there_is_no_lab(db, client):
    assert "No public labs yet" in text_of(client.get("/"))


def test_a_person_without_roles_is_shown_the_way_in(scene, client_of):
    assert "You have not joined a lab yet" in text_of(client_of(scene.outsider).get("/"))


@pytest.mark.parametrize(
    ("role", "said"),
    [
        ("member", "Open. No deadline."),
        ("assessor", "Nothing to judge yet."),
        ("organizer", "Set deadline"),
    ],
)
def test_home_shows_what_each_role_does_next(scene, client_of, role, said):
    page = text_of(client_of(scene.people[role]).get("/"))

    assert said in page


def test_home_counts_the_days_to_a_deadline_in_three_clocks(scene, client_of):
    Task.objects.update(deadline=timezone.now() + timedelta(days=3))

    page = text_of(client_of(scene.member).get("/"))

    assert "anywhere on earth" in page
    assert "UTC" in page
    assert "data-deadline-local" in page


def test_home_takes_as_many_queries_for_ten_labs_as_for_one(
    scene, client_of, django_assert_max_num_queries
):
    for _ in range(9):
        TaskFactory(lab=LabFactory())

    browser = client_of(scene.member)
    with django_assert_max_num_queries(16):
        browser.get("/")


def test_the_account_lists_roles_and_takes_a_name(scene, client_of):
    browser = client_of(scene.member)

    response = browser.post(
        "/account/", {"first_name": "Emmy", "last_name": "Noether"}, follow=True
    )

    assert "Name saved." in text_of(response)
    assert scene.team.name in text_of(response)
    assert AuditEvent.objects.get().verb == "person.rename"


def test_a_visitor_is_sent_to_sign_in_before_the_account(db, client):
    assert client.get("/account/").url == "/accounts/login/?next=/account/"


def test_health_shows_that_the_database_answers(db, client):
    response = client.get("/health/live")

    assert (response.status_code, response.json()["status"]) == (200, "ok")


def test_health_is_asked_by_any_address(db, client, settings):
    settings.ALLOWED_HOSTS = ["lab.example.org"]

    assert client.get("/health/live", headers={"host": "10.0.0.7:8000"}).status_code == 200
    assert client.get("/", headers={"host": "10.0.0.7:8000"}).status_code == 400


@pytest.mark.parametrize("path", ["/", "/labs/arqmath-x/"])
def test_an_organizer_in_a_team_gets_the_steps_of_both_for_each_task(scene, client_of, path):
    join_team(team=scene.team, user=scene.organizer)

    page = text_of(client_of(scene.organizer).get(path))

    assert page.count(f"<h3>{scene.task.name} ") == (path == "/")
    assert "Set deadline" in page
    assert f"{scene.team.name} has 5 of 5 runs left." in page
    assert 'href="/labs/arqmath-x/tasks/task1/runs/upload/">Upload runs</a>' in page
