"""`manage.py load_lab` on a lab whose values were edited in the browser."""

from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from arqlab.core.models import AuditEvent, Lab, Task
from arqlab.labs.services.labs import change_lab, change_task, close_task
from assessment.guidelines.selectors.versions import current_guideline
from assessment.guidelines.services.versions import write_guideline
from assessment.models import TicketPolicy
from assessment.tickets.services.policies import edit_policy
from tests.factories import TaskFactory, UserFactory

LAB = """
[lab]
slug = "small"
name = "A small lab"
protocol = "arqmath-3"

[[tasks]]
slug = "task1"
name = "Answers"
kind = "answers"
topics = "topics.xml"
limit = 500
deadline = 2127-06-01T12:00:00Z
"""
TOPICS = (
    '<Topics><Topic number="A.1"><Title>Sum</Title><Question>Add them.</Question>'
    "<Tags>sums</Tags></Topic></Topics>"
)
EDITED = datetime(2127, 5, 1, 12, tzinfo=UTC)
LIST = """\
The folder differs from values in the lab (lab -> folder):
  small name: The edited name -> A small lab
  small/task1 deadline: 2127-05-01 12:00:00 UTC -> 2127-06-01 12:00:00 UTC
  small/task1 limit: 700 -> 500
"""


@pytest.fixture
def folder(tmp_path: Path, db: None) -> Path:
    (tmp_path / "lab.toml").write_text(LAB)
    (tmp_path / "topics.xml").write_text(TOPICS)
    return tmp_path


@pytest.fixture
def with_rules(folder: Path) -> Path:
    """The same folder with guidelines and a policy of tickets."""
    (folder / "guidelines.html").write_text("<p>Judge.</p>")
    policy = 'ticket_policy = { 5 = "another", 6 = "expert", expert = "ada" }'
    (folder / "lab.toml").write_text(f'{LAB}guidelines = "guidelines.html"\n{policy}\n')
    return folder


@pytest.fixture
def edited(folder: Path) -> Task:
    """Load the lab and edit its name, the task's deadline and its limit, as the pages do."""
    load(folder)
    change_lab(lab=Lab.objects.get(), changes={"name": "The edited name"}, by=None)
    task = Task.objects.select_related("lab").get()
    change_task(task=task, changes={"deadline": EDITED}, protocol={"limit": 700}, by=None)
    return task


def load(folder: Path, *options: str) -> tuple[str, str]:
    out, errors = StringIO(), StringIO()
    call_command("load_lab", str(folder), *options, stdout=out, stderr=errors)
    return out.getvalue(), errors.getvalue()


def values() -> tuple[str, datetime | None, int]:
    task = Task.objects.select_related("lab").get()
    return task.lab.name, task.deadline, task.protocol.limit


def test_edited_values_are_listed_and_nothing_is_loaded_where_nobody_can_be_asked(edited, folder):
    (folder / "topics.xml").write_text(TOPICS.replace("Sum", "Difference"))
    errors = StringIO()

    with pytest.raises(CommandError, match="Add --yes to overwrite these values, or --keep-edits"):
        call_command("load_lab", str(folder), stdout=StringIO(), stderr=errors)

    assert errors.getvalue() == LIST
    assert values() == ("The edited name", EDITED, 700)
    assert edited.topics.get().title == "Sum"


def test_yes_overwrites_them_and_they_are_no_edits_any_more(edited, folder):
    load(folder, "--yes")

    assert values() == ("A small lab", datetime(2127, 6, 1, 12, tzinfo=UTC), 500)
    event = AuditEvent.objects.filter(verb="lab.load").first()
    assert (event.detail["keeps_edits"], len(event.detail["edits"])) == (False, 3)
    assert load(folder)[0].startswith("Nothing to change.")
    (folder / "lab.toml").write_text(LAB.replace("2127-06-01", "2127-07-01"))
    load(folder)
    assert values()[1] == datetime(2127, 7, 1, 12, tzinfo=UTC)


def test_keep_edits_keeps_them_and_loads_the_rest(edited, folder):
    (folder / "topics.xml").write_text(TOPICS.replace("Sum", "Difference"))
    (folder / "lab.toml").write_text(LAB.replace('name = "Answers"', 'name = "Good answers"'))

    load(folder, "--keep-edits", "--yes")

    assert values() == ("The edited name", EDITED, 700)
    assert Task.objects.get().name == "Good answers"
    assert edited.topics.get().title == "Difference"
    assert AuditEvent.objects.filter(verb="lab.load").first().detail["keeps_edits"] is True
    with pytest.raises(CommandError, match="Nothing was loaded"):
        load(folder)


def test_an_edit_back_to_the_presets_value_is_an_edit(folder):
    load(folder)
    task = Task.objects.select_related("lab").get()
    change_task(task=task, changes={}, protocol={"limit": 1000}, by=None)

    with pytest.raises(CommandError):
        load(folder)
    load(folder, "--keep-edits")
    assert values()[2] == 1000


@pytest.mark.parametrize(
    ("typed", "limit"), [("overwrite\n", 500), ("o\n", 500), ("keep\n", 700), ("k\n", 700)]
)
def test_it_asks_at_a_terminal(edited, folder, monkeypatch, typed, limit):
    type_answer(monkeypatch, typed)

    load(folder)

    assert values()[2] == limit


def test_it_asks_about_edits_once_though_the_load_has_another_question(edited, folder, monkeypatch):
    (folder / "topics.xml").write_text(TOPICS.replace("Sum", "Difference"))
    type_answer(monkeypatch, "keep\ny\n")

    load(folder)

    assert (values()[2], edited.topics.get().title) == (700, "Difference")


@pytest.mark.parametrize("typed", ["\n", "y\n", ""])
def test_it_loads_nothing_without_a_decision(edited, folder, monkeypatch, typed):
    type_answer(monkeypatch, typed)

    with pytest.raises(CommandError, match="Nothing was loaded"):
        load(folder)
    assert values() == ("The edited name", EDITED, 700)


def type_answer(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Type an answer at a terminal."""
    terminal = StringIO(text)
    terminal.isatty = lambda: True
    monkeypatch.setattr("sys.stdin", terminal)


def test_a_changed_folder_is_loaded_without_a_question_if_nobody_edited_its_values(folder):
    load(folder)
    (folder / "lab.toml").write_text(LAB.replace("500", "400"))

    load(folder)

    assert values()[2] == 400


def test_a_task_that_was_closed_by_hand_stays_closed(folder):
    load(folder)
    close_task(task=Task.objects.select_related("lab").get(), by=None, at=timezone.now())
    (folder / "lab.toml").write_text(LAB.replace("2127-06-01", "2129-06-01"))

    load(folder)

    assert Task.objects.get().deadline.year == 2129
    assert Task.objects.get().state(timezone.now()) == "closed"


@pytest.mark.parametrize(("option", "state"), [("--yes", "open"), ("--keep-edits", "closed")])
def test_a_date_that_reopens_a_task_is_asked_about_even_if_nobody_edited_it(folder, option, state):
    load(folder)
    Task.objects.update(deadline=timezone.now() - timedelta(days=1))  # as by an earlier load
    errors = StringIO()

    with pytest.raises(CommandError, match="Add --yes"):
        call_command("load_lab", str(folder), stdout=StringIO(), stderr=errors)
    assert "2127-06-01 12:00:00 UTC (reopens the task)" in errors.getvalue()
    assert Task.objects.get().state(timezone.now()) == "closed"

    load(folder, option)
    assert Task.objects.get().state(timezone.now()) == state


def test_a_policy_is_loaded_whatever_other_tasks_have(with_rules):
    ada, other = UserFactory(username="ada"), TaskFactory()
    TicketPolicy.objects.create(task=other, actions={})
    load(with_rules)

    assert TicketPolicy.objects.exclude(task=other).get().expert == ada


def test_guidelines_and_the_policy_of_tickets_are_loaded_once(with_rules):
    ada = UserFactory(username="ada")
    load(with_rules)
    task = Task.objects.get()
    assert [one.text for one in task.guidelines.all()] == ["<p>Judge.</p>\n"]
    assert (task.ticket_policy.actions, task.ticket_policy.expert) == (
        {"5": "another", "6": "expert"},
        ada,
    )

    write_guideline(task=task, text="<p>Judge well.</p>", at=EDITED, by=None)
    edit_policy(task=task, actions={}, expert=None, expert_closes=False, by=ada)
    assert "Nothing to change." in load(with_rules)[0]
    assert current_guideline(task).version == 2
    assert TicketPolicy.objects.get().actions == {}


def test_an_unknown_expert_stops_the_load(with_rules):
    with pytest.raises(CommandError, match="No account found for ada"):
        load(with_rules)
    assert not Lab.objects.exists()


def test_mistakes_in_a_policy_are_listed(with_rules):
    text = (with_rules / "lab.toml").read_text()
    wrong = text.replace('"another"', '"nobody"').replace(', expert = "ada"', ', 3 = "wait"')
    (with_rules / "lab.toml").write_text(wrong)

    with pytest.raises(CommandError) as refused:
        load(with_rules)
    message = str(refused.value)
    assert "expected one of wait, expert, another" in message
    assert "the key 3" in message
    assert "no expert" in message
