"""A worker of the web server dies while a label is stored."""

from pathlib import Path

import pytest

from tests.databases import new_database
from tests.faults.judging import kill_at_each_step, served_lab

pytestmark = pytest.mark.servers


def test_a_submit_is_stored_whole_or_not_at_all_when_its_worker_dies(tmp_path: Path) -> None:
    settings = "tests.assessment.judging.dying_settings"
    with served_lab(tmp_path, new_database(tmp_path), items=100, settings=settings) as served:
        found = kill_at_each_step(served)

    # At least: read the item, store the labels, mark the item as done, commit, answer.
    assert found.kills >= 5
    assert (found.acknowledged, found.done) == (3 * (found.kills + 1), found.kills + 1)
    assert found[3:] == (0, 0, 0, 0, 0)
