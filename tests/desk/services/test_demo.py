"""The demo lab is built in one step, with activity in every state."""

from collections.abc import Iterator
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import pytest
from django.core.management import call_command
from django.test import override_settings
from django.utils import timezone

from arqlab.core.models import AuditEvent, Task, User
from assessment.models import Judgment, Pool, Qrel, QrelSet, Ticket
from evaluation.selectors.boards import live_board, released_board, released_leaderboard
from submissions.models import Run


class Demo(NamedTuple):
    """The demo: the folder of its files, and what was printed when it was built."""

    folder: Path
    printed: str


@pytest.fixture(scope="module")
def demo(kept_db: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """Build the demo once for all tests that only look at it."""
    data = tmp_path_factory.mktemp("demo")
    with override_settings(DATA_DIR=data):
        yield Demo(data / "demo", build())


def build() -> str:
    out = StringIO()
    call_command("build_demo", stdout=out)
    return out.getvalue()


def test_the_demo_is_built_and_prints_its_accounts(demo: Demo, client, db):
    password = (demo.folder / "password").read_text().strip()

    assert f"password for all: {password}" in demo.printed
    assert password.isalnum()
    for name in ("organizer", "assessor", "assessor2", "visitor", "mira"):
        assert client.login(username=name, password=password)
        assert name in demo.printed


def test_the_demo_has_leaderboards_and_runs_in_every_state(demo: Demo, db):
    task1, task2, _, progress = Task.objects.filter(lab__slug="demo").order_by("position")

    board = released_board(released_leaderboard(task1))
    assert len(board.rows) > 10
    assert any(row.run.erratum.startswith("Withdrawn on") for row in board.rows)
    assert released_leaderboard(task2) is None
    assert live_board(task2.qrel_sets.get(is_current=True)).rows
    assert {run.state for run in Run.objects.filter(task=progress)} == {
        "valid",
        "invalid",
        "withdrawn",
    }
    assert Run.objects.filter(check_only=True).exists()
    assert not Run.objects.filter(task=task1, status="invalid").exists()


def test_an_assessor_signs_in_and_judges_at_once(demo: Demo, client, db):
    client.force_login(User.objects.get(username="assessor"))

    home = client.get("/labs/demo/judging/")
    states = {row.topic.query_id: row.state for row in home.context["work"].rows}
    assert states["A.4"] == states["B.8"] == "in-progress"
    assert states["A.7"] == states["B.10"] == "not-started"
    for topic, task in (("A.4", "task1"), ("B.8", "task2")):
        page = client.get(f"/labs/demo/tasks/{task}/judge/{topic}/")
        assert page.context["config"]["items"][0]["state"] == "waiting"
        assert 0 < page.context["work"].done < page.context["work"].total
    assert client.get("/labs/demo/tasks/task1/judge/A.2/").context["next_topic"].query_id == "A.4"


def test_the_organizer_sees_judging_in_progress(demo: Demo, client, db):
    client.force_login(User.objects.get(username="organizer"))

    for task in ("task1", "task2"):
        grid = client.get(f"/labs/demo/tasks/{task}/assignments/").context["grid"]
        assert {row.state for row in grid.rows} >= {
            "done",
            "in-progress",
            "not-started",
            "unassigned",
        }
        assert {row.person.username: bool(row.judged) for row in grid.judges} == {
            "assessor": True,
            "assessor2": True,
        }
        draft = client.get(f"/labs/demo/tasks/{task}/qrels/").context["draft"]
        assert {bool(one.reason) for one in draft.topics} == {True, False}
    assert Ticket.objects.filter(answered_at=None).count() == 1
    assert "It counts surjections." in client.get("/labs/demo/tickets/").content.decode()


def test_the_assessors_labels_match_the_qrels(demo: Demo, db):
    said = Judgment.official.values_list(
        "instance__item__topic__query_id", "instance__doc_id", "label"
    )
    known = Qrel.objects.filter(qrel_set__name__in=["complete", "instances"])
    assert said
    assert set(said) <= set(known.values_list("query_id", "doc_id", "relevance"))
    assert not QrelSet.objects.exclude(made_by=None).exists()
    assert {(pool.task.slug, pool.number) for pool in Pool.official.all()} == {
        ("task1", 1),
        ("task2", 1),
    }


def test_building_twice_changes_nothing(demo: Demo, db):
    before = (Run.objects.count(), User.objects.count(), (demo.folder / "password").read_text())

    assert "already exists" in build()
    assert (
        Run.objects.count(),
        User.objects.count(),
        (demo.folder / "password").read_text(),
    ) == before


def test_the_runs_to_try_are_printed_and_exist(demo: Demo, db):
    for path in demo.folder.glob("try-*.tsv"):
        assert str(path) in demo.printed
    assert len(list(demo.folder.glob("try-*.tsv"))) >= 2


def test_the_demo_has_agreement_and_an_adjudication(demo: Demo, client, db):
    client.force_login(User.objects.get(username="organizer"))

    for kind, expected in (("training", "Krippendorff"), ("second", "9 differ")):
        page = client.get(f"/labs/demo/tasks/task1/rounds/{kind}-1/")
        assert expected in page.content.decode()
    assert Judgment.objects.filter(instance__item__pool__round__kind="adjudication").count() == 2


def test_the_demo_is_always_in_the_middle_of_its_year(demo: Demo, db):
    now = timezone.now()
    newest = Judgment.objects.latest("judged_at").judged_at
    assert now - timedelta(days=2) < newest < now
    assert not AuditEvent.objects.filter(at__gt=now).exists()
    open_ = {task.slug for task in Task.objects.filter(deadline__gt=now)}
    assert open_ == {"task1-progress"}
