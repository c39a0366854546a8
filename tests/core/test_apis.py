"""Labs and tasks as JSON."""

from datetime import UTC, datetime

import pytest
from django.core.management import call_command

from arqkit.protocols.scales import ARQMATH
from arqlab.core.models import Task
from tests.factories import TaskFactory, make_lab


def test_the_list_has_the_labs_that_the_user_may_see(scene, client):
    make_lab("secret", is_public=False)

    found = client.get("/api/v1/labs/").json()

    assert [(lab["slug"], lab["tasks"]) for lab in found["results"]] == [("arqmath-x", ["task1"])]


def test_a_draft_is_404_except_for_users_with_a_role(db, client, client_of):
    draft = make_lab("draft", is_public=False)

    assert client.get("/api/v1/labs/draft/").status_code == 404
    assert client.get("/api/v1/labs/draft/tasks/").status_code == 404
    assert client_of(draft.member).get("/api/v1/labs/draft/").json()["is_public"] is False


def test_a_task_has_its_rules_state_and_deadline(scene, client):
    Task.objects.update(deadline=datetime(2027, 5, 2, 12, tzinfo=UTC), overrides={"quota": 7})

    task = client.get("/api/v1/labs/arqmath-x/tasks/task1/").json()

    assert (task["lab"], task["kind"], task["state"]) == ("arqmath-x", "answers", "open")
    assert task["deadline"] == "2027-05-02T12:00:00Z"
    assert (task["protocol"]["quota"], task["protocol"]["labels"]) == (7, ARQMATH.rows())
    assert task["protocol"]["measures"][0] == "nDCG(judged_only=True)@1000"


def test_the_number_of_queries_of_a_list_is_constant(scene, client, django_assert_max_num_queries):
    for _ in range(5):
        TaskFactory(lab=scene.lab)

    with django_assert_max_num_queries(3):
        found = client.get("/api/v1/labs/arqmath-x/tasks/").json()
    with django_assert_max_num_queries(3):
        client.get("/api/v1/labs/")

    assert found["count"] == 6


def test_the_api_changes_no_lab(scene, client_of):
    assert client_of(scene.organizer).delete("/api/v1/labs/arqmath-x/").status_code == 405


@pytest.mark.parametrize(
    "path", ["labs/", "labs/{lab}/", "labs/{lab}/tasks/", "labs/{lab}/tasks/{task}/"]
)
def test_the_schema_describes_every_url(db, client, path):
    assert f"/api/v1/{path}:" in client.get("/api/v1/schema/").content.decode()


def test_the_schema_is_made_without_a_warning(db, tmp_path):
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", tmp_path / "schema.yml")

    assert (tmp_path / "schema.yml").read_text().startswith("openapi: 3")


def test_the_page_of_the_api_has_nothing_inline(db, client):
    page = client.get("/api/v1/docs/").content.decode()

    assert "<style" not in page
    assert "<script>" not in page
