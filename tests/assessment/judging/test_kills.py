"""The web process is killed while assessors judge. The long version is `python -m
tests.assessment.judging.kills`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.assessment.judging.kills import judge_through_kills, kill_after_submits, served_lab
from tests.databases import new_database

pytestmark = pytest.mark.servers


def test_of_what_32_assessors_were_told_is_stored_nothing_is_lost_doubled_or_torn(
    tmp_path: Path,
) -> None:
    with served_lab(tmp_path, new_database(tmp_path), items=400) as served:
        found, times = judge_through_kills(served, submits=300, kills=2)

    assert found.acknowledged >= len(times) >= 300
    assert found[3:] == (0, 0, 0, 0, 0)


def test_a_submit_whose_worker_is_killed_is_stored_whole_or_not_at_all(tmp_path: Path) -> None:
    with served_lab(tmp_path, new_database(tmp_path), items=50) as served:
        found = kill_after_submits(served, count=12)

    assert (found.acknowledged, found.done, found.kills) == (36, 12, 12)
    assert found[3:] == (0, 0, 0, 0, 0)
