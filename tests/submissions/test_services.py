"""From an upload to a report."""

from __future__ import annotations

import pytest

from submissions import services
from submissions.models import Run
from tests.factories import Scene
from tests.submissions.factories import BAD_RUN, NOW, sent

pytestmark = pytest.mark.django_db


def test_a_good_run_becomes_valid(scene: Scene) -> None:
    run = submit(scene)
    services.validate_run(run_id=run.pk, at=NOW)
    run.refresh_from_db()
    assert (run.status, run.report["rows"], list(run.problems.values_list("kind", flat=True))) == ("valid", 3, [])


def test_a_bad_run_becomes_invalid(scene: Scene) -> None:
    run = submit(scene, BAD_RUN)
    services.validate_run(run_id=run.pk, at=NOW)
    run.refresh_from_db()
    assert run.status == "invalid"


def submit(scene: Scene, data: bytes | None = None) -> Run:
    file = sent() if data is None else sent(data)
    return services.submit_upload(file=file, task=scene.task, team=scene.team, by=scene.member, at=NOW)[0]
