"""Whatever sets a deadline asks before a date in the past takes effect, and says what it closes.

A form with a field for a deadline, or an API that takes one, fails if it is not in the list.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.forms import Form
from django.urls import get_resolver
from django.utils import timezone
from drf_spectacular.generators import SchemaGenerator

from arqlab.core.models import Job, Task
from arqlab.jobs.tasks import run_waiting_jobs
from arqlab.labs.forms.creating import NewTaskForm
from arqlab.labs.forms.labs import TaskDatesForm, TaskForm
from arqlab.labs.oddities import DEADLINES, past_deadlines
from tests.factories import Scene, TaskFactory
from tests.page_forms import form_data

pytestmark = pytest.mark.once

FORMS = {TaskForm, NewTaskForm}
"""The forms with a field for a deadline. A lab.toml sets one too: `desk:lab-load`, `load_lab`."""
PAST, NOW = "2026-05-03T12:00:00", datetime(2026, 6, 1, tzinfo=UTC)
SAID = {
    "deadline": "The deadline of Answer retrieval was on 3 May 2026, 12:00 UTC: submissions close "
    "at once.",
    "judging_deadline": "The judging deadline of Answer retrieval was on 3 May 2026, 12:00 UTC: "
    "assessors can still judge, but nobody is reminded.",
}
LAB = """[lab]
slug = "arqmath-x"
name = "ARQMath-X"
protocol = "arqmath-3"
[[tasks]]
slug = "task1"
name = "Answer retrieval"
kind = "answers"
"""


def forms_below(kind: type[Form]) -> Iterator[type[Form]]:
    for form in kind.__subclasses__():
        yield from (form, *forms_below(form))


def test_no_other_form_has_a_field_for_a_deadline():
    get_resolver().url_patterns  # noqa: B018 - imports all views, and so all forms

    dated = {form for form in forms_below(Form) if form.base_fields.keys() & DEADLINES.keys()}
    assert dated == {TaskDatesForm, *FORMS}


def test_no_api_takes_a_deadline():
    schema = SchemaGenerator().get_schema(request=None, public=True)
    bodies = re.findall(
        r"#/components/schemas/(\w+)",
        str([one.get("requestBody") for path in schema["paths"].values() for one in path.values()]),
    )

    taken = [schema["components"]["schemas"][name].get("properties", {}) for name in bodies]
    assert taken
    assert not [fields for fields in taken if fields.keys() & DEADLINES.keys()]


@pytest.fixture
def edit(scene: Scene, client_of: Any) -> Any:
    """Return a function that saves the form of the task with changes."""
    path, client = "/labs/arqmath-x/tasks/task1/edit/", client_of(scene.organizer)
    return lambda **changes: client.post(path, form_data(client.get(path).text, path, **changes))


@pytest.fixture
def create(scene: Scene, client_of: Any) -> Any:
    """Return a function that sends the form of a new task."""
    form = {"name": "Answer retrieval", "slug": "new", "kind": "answers"}
    client = client_of(scene.organizer)
    return lambda **dates: client.post("/labs/arqmath-x/new-task/", form | dates)


@pytest.mark.parametrize("field", DEADLINES)
@pytest.mark.parametrize("page", ["edit", "create"])
def test_a_page_asks_once_and_says_what_closes(page, field, request):
    send = request.getfixturevalue(page)
    past = {field: PAST, f"{field}_zone": "UTC"}

    asked = send(**past)

    assert not Task.objects.filter(**{f"{field}__isnull": False}).exists()
    assert SAID[field] in asked.text
    [question] = re.findall(r'name="confirm" id="id_confirm" value="([^"]+)"', asked.text)
    assert send(**past, confirm=question).status_code == 302
    assert Task.objects.filter(**{f"{field}__lt": timezone.now()}).exists()


def test_a_confirmation_is_for_the_date_that_was_asked_about(edit):
    asked = edit(deadline=PAST, deadline_zone="UTC").text
    [question] = re.findall(r'name="confirm" id="id_confirm" value="([^"]+)"', asked)

    assert (
        "4 May 2026"
        in edit(deadline="2026-05-04T12:00:00", deadline_zone="UTC", confirm=question).text
    )
    assert Task.objects.get().deadline is None


def test_a_past_deadline_that_stays_asks_nothing(edit):
    Task.objects.update(deadline=NOW, judging_deadline=NOW + timedelta(days=1))

    assert edit(name="Answers").status_code == 302
    assert Task.objects.get().name == "Answers"


@pytest.mark.parametrize("field", DEADLINES)
def test_the_command_asks_and_says_what_closes(field, scene, tmp_path):
    (tmp_path / "lab.toml").write_text(f"{LAB}{field} = {PAST}Z\n")
    errors = StringIO()

    with pytest.raises(CommandError, match="--yes"):
        call_command("load_lab", str(tmp_path), stdout=StringIO(), stderr=errors)
    assert SAID[field] in errors.getvalue()
    assert getattr(Task.objects.get(), field) is None

    call_command("load_lab", str(tmp_path), "--yes", stdout=StringIO(), stderr=errors)
    assert getattr(Task.objects.get(), field) == datetime(2026, 5, 3, 12, tzinfo=UTC)
    call_command("load_lab", str(tmp_path), stdout=StringIO(), stderr=errors)


def test_a_new_task_of_a_folder_may_have_a_past_deadline(scene, tmp_path):
    old = LAB.replace('"task1"', '"task9"')
    (tmp_path / "lab.toml").write_text(f"{old}deadline = {PAST}Z\n")

    call_command("load_lab", str(tmp_path), stdout=StringIO())

    assert Task.objects.get(slug="task9").state(timezone.now()) == "closed"


@pytest.mark.parametrize("field", DEADLINES)
def test_the_page_that_loads_a_folder_asks_and_says_what_closes(
    field, scene, client_of, settings, tmp_path, django_capture_on_commit_callbacks
):
    settings.MEDIA_ROOT, client = tmp_path, client_of(scene.superuser)
    toml = tmp_path / "lab.toml"
    toml.write_text(f"{LAB}{field} = {PAST}Z\n")

    def send(path: str, **form: Any) -> Job:
        with django_capture_on_commit_callbacks(execute=True):
            client.post(path, form)
        run_waiting_jobs()
        return Job.objects.get()

    with toml.open("rb") as file:
        load = send("/load-lab/", file=file)
    assert (load.state, getattr(Task.objects.get(), field)) == ("unconfirmed", None)
    assert SAID[field] in client.get(f"/loads/{load.pk}/").text
    load = send(f"/loads/{load.pk}/repeat/", confirmed=load.changes["digest"])
    assert (load.state, getattr(Task.objects.get(), field).year) == ("done", 2026)


@pytest.mark.parametrize(
    ("stored", "effect"),
    [
        ({}, "submissions close at once"),
        ({"closed_at": NOW}, "submissions stay closed"),
        ({"takes_post_hoc_runs": True}, "runs are post-hoc at once"),
    ],
)
def test_what_a_past_deadline_does_depends_on_the_task(stored, effect):
    sentences = past_deadlines(TaskFactory.build(**stored), {"deadline": NOW}, at=NOW)

    assert sentences == {
        "deadline": f"The deadline of Answer retrieval was on 1 June 2026, 00:00 UTC: {effect}."
    }
