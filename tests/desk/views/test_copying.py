"""A lab is copied for another year."""

from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import Permission

from arqlab.core.models import AuditEvent, Lab, Task
from assessment.guidelines.services.versions import (
    Decision,
    record_case,
    remove_entry,
    write_guideline,
)
from collection.models import Collection
from collection.services.loading import assign_collection

NOW = datetime(2027, 1, 1, tzinfo=UTC)
COPY = "/labs/arqmath-x/copy/"
FORM = {"name": "ARQMath-Y", "slug": "arqmath-y"}


@pytest.fixture
def creator(scene):
    scene.organizer.user_permissions.add(Permission.objects.get(codename="add_lab"))
    return scene.organizer


def test_a_copy_has_the_rules_but_not_the_dates_and_topics(scene, creator, client_of):
    Task.objects.update(
        overrides={"quota": 7}, deadline=NOW, judging_deadline=NOW, description="Find answers."
    )

    response = client_of(creator).post(COPY, FORM)

    task = Task.objects.get(lab__slug="arqmath-y")
    assert response.url == "/labs/arqmath-y/"
    assert (task.slug, task.protocol.quota, task.description) == ("task1", 7, "Find answers.")
    assert (task.deadline, task.judging_deadline) == (None, None)
    assert (task.topics.count(), task.lab.teams.count()) == (0, 0)
    assert not task.lab.is_public


def test_a_copy_has_the_guidelines_and_the_collection(scene, creator, client_of):
    assign_collection(
        lab=scene.lab, collection=Collection.objects.create(slug="mse", loaded_at=NOW)
    )
    definitions = {"3": "All parts."}
    write_guideline(
        task=scene.task, text="<p>Judge.</p>", definitions=definitions, at=NOW, by=creator
    )

    client_of(creator).post(COPY, FORM)

    lab = Lab.objects.get(slug="arqmath-y")
    [guideline] = lab.tasks.get().guidelines.all()
    assert (guideline.text, guideline.definitions) == ("<p>Judge.</p>\n", definitions)
    assert [collection.slug for collection in lab.collections.all()] == ["mse"]


def test_a_copy_has_the_examples_and_cases_of_the_current_guidelines(scene, creator, client_of):
    def case(word):
        given = {"question": f"{word}?", "decision": Decision("Yes."), "at": NOW, "by": creator}
        return record_case(task=scene.task, **given)

    removed, _ = case("Removed"), case("Kept")
    write_guideline(task=scene.task, text="<p>Judge.</p>", at=NOW, by=creator)
    remove_entry(entry=removed, by=creator)
    write_guideline(task=scene.task, text="<p>Judge.</p>", at=NOW, by=creator)
    case("Waiting")

    client_of(creator).post(COPY, FORM)

    page = client_of(creator).get("/labs/arqmath-y/tasks/task1/guidelines/1/").text
    assert [word in page for word in ("Removed?", "Kept?", "Waiting?")] == [False, True, False]
    assert scene.task.guideline_entries.count() == 3


@pytest.mark.parametrize(("chosen", "roles"), [({}, 1), ({"with_people": "on"}, 2)])
def test_organizers_and_assessors_are_copied_if_chosen(scene, creator, client_of, chosen, roles):
    client_of(creator).post(COPY, FORM | chosen)

    assert Lab.objects.get(slug="arqmath-y").memberships.count() == roles
    assert AuditEvent.objects.get(verb="lab.create").detail == {"copy_of": "arqmath-x"}


def test_a_copy_needs_an_address_of_its_own(scene, creator, client_of):
    page = client_of(creator).post(COPY, FORM | {"slug": "arqmath-x"}).content.decode()

    assert "Another lab has the address arqmath-x." in page
    assert Lab.objects.get() == scene.lab
