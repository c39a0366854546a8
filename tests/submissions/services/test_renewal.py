"""A verdict is renewed when what it rests on changes, by the sweep, the button and the command."""

from collections.abc import Callable

import pytest
from django.core.management import call_command
from django.test import Client

from arqlab.core.models import Task, Topic, User
from arqlab.notices.models import Kind, Notice
from submissions import tasks
from submissions.models import Run
from submissions.services.uploads import submit_upload
from submissions.services.validation import validate_uploaded_run
from tests.evaluation.factories import make_qrels
from tests.factories import Scene
from tests.submissions.entry_points import url
from tests.submissions.factories import NOW, ValidRunFactory, sent

pytestmark = pytest.mark.django_db
SignIn = Callable[[User], Client]
NEW_TOPIC = b"A.9\t10\t1\t9.5\tbm25\n"
TOO_DEEP = b"A.1\t10\t1\t9.5\tbm25\nA.1\t11\t2\t8.5\tbm25\n"


def checked(scene: Scene, data: bytes, *, tag: str = "bm25") -> Run:
    """Return a submitted run after its check."""
    file = sent(data, name=f"Alpha-task1-{tag}.tsv")
    [run] = submit_upload(file=file, task=scene.task, team=scene.team, by=scene.member, at=NOW)
    validate_uploaded_run(run_id=run.pk, at=NOW)
    return Run.objects.get(pk=run.pk)


def add_topic(task: Task) -> None:
    Topic.objects.create(task=task, query_id="A.9", position=9)


def by_sweep(run: Run, scene: Scene, client_of: SignIn) -> None:
    tasks.renew_verdicts()
    tasks.validate_waiting_runs()


def by_button(run: Run, scene: Scene, client_of: SignIn) -> None:
    browser = client_of(scene.member)
    assert "Check again" in browser.get(url("run-detail", run.pk)).text
    browser.post(url("run-recheck", run.pk))
    tasks.validate_waiting_runs()


def by_command(run: Run, scene: Scene, client_of: SignIn) -> None:
    call_command("check_again", f"{scene.lab.slug}/{scene.task.slug}")


DOORS = [by_sweep, by_button, by_command]


@pytest.mark.parametrize("door", DOORS)
def test_a_run_becomes_valid_when_its_topic_is_added(
    scene: Scene, client_of: SignIn, door: Callable[..., None]
) -> None:
    run = checked(scene, NEW_TOPIC)
    add_topic(scene.task)

    door(run, scene, client_of)

    assert (run.status, Run.objects.get(pk=run.pk).status) == ("invalid", "valid")


def change_topics(task: Task) -> None:
    add_topic(task)


def change_limit(task: Task) -> None:
    Task.objects.filter(pk=task.pk).update(overrides={**task.overrides, "limit": 5})


@pytest.mark.parametrize("change", [change_topics, change_limit])
def test_the_sweep_checks_again_once_for_each_change(
    scene: Scene, change: Callable[[Task], None]
) -> None:
    run = checked(scene, b"A.1\tx\t1\tmuch\tbm25\n")
    for _ in range(2):
        tasks.renew_verdicts()
    assert Run.objects.get(pk=run.pk).status == "invalid"

    change(scene.task)
    tasks.renew_verdicts()

    assert Run.objects.get(pk=run.pk).status == "uploaded"


def test_a_team_is_notified_only_if_its_run_becomes_valid(scene: Scene) -> None:
    fails = checked(scene, b"A.1\tx\t1\tmuch\tbm25\n")
    notices = Notice.objects.filter(user=scene.member, kind=Kind.RUNS_VALIDATED)
    before = notices.count()
    add_topic(scene.task)
    tasks.renew_verdicts()
    tasks.validate_waiting_runs()

    assert Run.objects.get(pk=fails.pk).status == "invalid"
    assert notices.count() == before


def test_a_run_that_its_team_replaced_stays_as_it_is(scene: Scene, client_of: SignIn) -> None:
    run = checked(scene, NEW_TOPIC)
    ValidRunFactory(task=scene.task, team=scene.team, tag="bm25")
    add_topic(scene.task)

    tasks.renew_verdicts()
    page = client_of(scene.member).post(url("run-recheck", run.pk), follow=True)

    assert Run.objects.get(pk=run.pk).status == "invalid"
    assert "would have two runs with the tag bm25" in page.text


def test_a_quoted_run_is_warned_when_the_qrels_come_after_it(
    scene: Scene, client_of: SignIn
) -> None:
    run = checked(scene, b'A.1\t"p1"\t1\t9.5\tbm25\n')
    page = url("run-detail", run.pk)
    assert "No item of the run is known" not in client_of(scene.member).get(page).text

    make_qrels(scene.task)
    tasks.renew_verdicts()

    html = client_of(scene.member).get(page).text
    assert "The run is valid, but its scores may mean nothing" in html
    assert "No item of the run is known to this task" in html
