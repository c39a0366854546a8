"""`arqkit pool` prints the pool that a server freezes from the same runs."""

from pathlib import Path

import pytest
from django.core.files.base import ContentFile

from arqkit.protocols.presets import PoolProtocol
from arqlab.core.models import Task, Topic
from assessment.pools.selectors.choices import PoolChoice
from assessment.pools.services.freezing import compute_pool
from submissions.services.uploads import submit_upload
from submissions.services.validation import validate_uploaded_run
from tests.factories import Scene
from tests.offline import arqkit
from tests.real_data import DATA, needs_data
from tests.submissions.factories import NOW

RUNS = sorted((DATA / "arqmath-1" / "runs" / "task1").glob("*.gz"))


@needs_data
@pytest.mark.django_db
@pytest.mark.once
@pytest.mark.parametrize("by", ["score", "rank"])
def test_the_pool_of_real_runs_is_that_of_the_server(scene: Scene, tmp_path: Path, by: str) -> None:
    Task.objects.update(overrides={"pooling_order": by})
    topics = range(3, 101)
    Topic.objects.bulk_create(
        Topic(task=scene.task, query_id=f"A.{number}", position=number) for number in topics
    )
    scene.task.refresh_from_db()
    for path in RUNS:
        file = ContentFile(path.read_bytes(), name=path.name)
        [run] = submit_upload(file=file, task=scene.task, team=scene.team, by=scene.member, at=NOW)
        validate_uploaded_run(run_id=run.pk, at=NOW)
    choice = PoolChoice(PoolProtocol(primary=20, alternate=20), seed=7)
    pool = compute_pool(task=scene.task, choice=choice)

    ended = arqkit(tmp_path, "pool", *RUNS, "--depth", 20, "--by", by, "--seed", 7)

    assert len(pool.sources.runs) == len(RUNS) > 1
    expected = ["\t".join(row) for row in pool.labels.select("topic", "item").iter_rows()]
    assert ended.stdout.splitlines() == expected
