"""The demo lab: there in one go, looking like a lab in its busiest week."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from arqlab.core.models import Lab, Task, User
from evaluation.selectors import live_board, released_board, released_leaderboard
from submissions.models import Run


@pytest.fixture
def folder(tmp_path: Path, settings, db: None) -> Path:
    settings.DATA_DIR = tmp_path
    return tmp_path / "demo"


def build() -> str:
    out = StringIO()
    call_command("build_demo", stdout=out)
    return out.getvalue()


def test_the_demo_is_built_and_says_how_to_get_in(folder: Path, client):
    printed = build()
    password = (folder / "password").read_text().strip()

    assert f"password {password}" in printed
    assert password.isalnum()
    for name in ("organizer", "assessor", "visitor", "mira"):
        assert client.login(username=name, password=password)
        assert name in printed


def test_the_demo_has_boards_and_runs_in_every_state(folder: Path):
    build()
    task1, task2, _, progress = Task.objects.filter(lab__slug="demo").order_by("position")

    board = released_board(released_leaderboard(task1))
    assert len(board.rows) > 10
    assert any(row.run.is_withdrawn for row in board.rows)
    assert released_leaderboard(task2) is None
    assert live_board(task2.qrel_sets.get(is_current=True)).rows
    assert {run.state for run in Run.objects.filter(task=progress)} == {"valid", "invalid", "withdrawn"}
    assert Run.objects.filter(check_only=True).exists()
    assert not Run.objects.filter(task=task1, status="invalid").exists()


def test_building_twice_changes_nothing(folder: Path):
    build()
    before = (Run.objects.count(), User.objects.count(), (folder / "password").read_text())

    assert "already there" in build()
    assert (Run.objects.count(), User.objects.count(), (folder / "password").read_text()) == before


def test_the_runs_to_try_are_printed_and_are_there(folder: Path):
    printed = build()

    for path in folder.glob("try-*.tsv"):
        assert str(path) in printed
    assert len(list(folder.glob("try-*.tsv"))) >= 2


def test_a_demo_that_fails_leaves_no_lab_behind(folder: Path, monkeypatch):
    monkeypatch.setattr("evaluation.services.demo.release_boards", lambda stage: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        build()
    assert not Lab.objects.exists()
