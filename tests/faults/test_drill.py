"""Nothing that was acknowledged is lost or there twice, whatever part of a site fails."""

from pathlib import Path

import pytest

from tests.faults.drill import drilled
from tests.faults.site import EMBEDDED, LARGE

pytestmark = pytest.mark.servers


@pytest.mark.parametrize("mode", ["embedded", "large"])
def test_labels_and_runs_survive_every_fault(mode: str, tmp_path: Path) -> None:
    faults = EMBEDDED if mode == "embedded" else LARGE

    drill = drilled(tmp_path, faults, submits=20, embedded=mode == "embedded")

    assert drill.found == []
    stood = [row.fault for row in drill.rows]
    assert stood in (list(faults), list(faults)[:-2])  # only root has disks that can be full
    assert all(row.acknowledged for row in drill.rows)
