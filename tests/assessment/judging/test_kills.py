"""The web process is killed while assessors judge. The long version is `python -m
tests.assessment.judging.kills`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.assessment.judging.kills import judge_through_kills, kill_at_each_step, served_lab
from tests.databases import new_database

pytestmark = pytest.mark.servers


def test_no_confirmed_label_of_32_assessors_is_lost_doubled_or_torn(tmp_path: Path) -> None:
    with served_lab(tmp_path, new_database(tmp_path), items=400) as served:
        found, times = judge_through_kills(served, submits=300, kills=2)

    assert found.acknowledged >= len(times) >= 300
    assert found[3:] == (0, 0, 0, 0, 0)


def test_a_submit_is_stored_whole_or_not_at_all_when_its_worker_dies(tmp_path: Path) -> None:
    settings = "tests.assessment.judging.dying_settings"
    with served_lab(tmp_path, new_database(tmp_path), items=100, settings=settings) as served:
        found = kill_at_each_step(served)

    # At least: read the item, store the labels, mark the item as done, commit, answer.
    assert found.kills >= 5
    assert (found.acknowledged, found.done) == (3 * (found.kills + 1), found.kills + 1)
    assert found[3:] == (0, 0, 0, 0, 0)
