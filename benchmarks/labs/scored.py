"""A lab with many runs: pooled, judged, frozen qrels, scores, and a released leaderboard."""

from dataclasses import asdict
from pathlib import Path

import numpy as np
import polars as pl
from django.conf import settings

from arqlab.core.models import Team
from assessment.models import Pool
from assessment.pools.selectors.choices import PoolChoice
from assessment.qrels.services.versions import QrelsChoice, choose_current_qrels, freeze_qrels
from benchmarks.labs.judged import FIRST_POST, JudgedLab, make_judged
from evaluation.services.releasing import release_leaderboard
from submissions.models import Run, Upload

RUNS_A_TEAM = 5
RETRIEVED, UNJUDGED = 100, 20
"""The items that a run retrieves for each topic, and those of them that nobody judges."""


def make_scored(runs: int, topics: int, items: int) -> JudgedLab:
    """Make the lab: so many runs, and topics with so many judged items each.

    One run is late: it was submitted after the pool was frozen.
    """
    made = make_judged(topics, items)
    queries = list(made.task.topics.order_by("position").values_list("query_id", flat=True))
    _, *pooled = [_submit(made, number, queries, items) for number in range(runs)]
    choice = PoolChoice(made.task.protocol.pool, seed=1)
    Pool.objects.update(
        settings=asdict(choice.protocol),
        runs=[
            {"run": run.pk, "team": run.team.name, "tag": run.tag, "sha256": "0" * 64}
            | {"kind": choice.kind_of(run), "depth": choice.depth_of(run)}
            for run in pooled
        ],
    )
    qrels = freeze_qrels(
        task=made.task, choice=QrelsChoice("official"), by=made.organizer, at=made.at
    )
    choose_current_qrels(qrel_set=qrels, by=made.organizer)
    release_leaderboard(qrel_set=qrels, by=made.organizer, at=made.at)
    return made


def _submit(made: JudgedLab, number: int, queries: list[str], items: int) -> Run:
    """Submit a run that retrieves the first items of the pool more often than the last ones."""
    name, tag = f"Team {number // RUNS_A_TEAM:03}", f"run{number:04}"
    team, _ = Team.objects.get_or_create(lab=made.task.lab, name=name)
    random, topics = np.random.default_rng(number), len(queries)
    judged, rest = min(RETRIEVED - UNJUDGED, items // 2), topics * items
    places = random.random((topics, items)) * np.arange(1, items + 1)
    found = np.argpartition(places, judged)[:, :judged] + items * np.arange(topics)[:, None]
    other = rest + np.argsort(random.random((topics, 5 * UNJUDGED)))[:, :UNJUDGED]
    posts = random.permuted(np.hstack([found, other]), axis=1)
    order = np.tile(np.arange(1, posts.shape[1] + 1, dtype=np.int32), topics)
    path = Path(settings.MEDIA_ROOT, "indexes", f"{tag}.parquet")
    path.parent.mkdir(parents=True, exist_ok=True)
    item = (posts.ravel() + FIRST_POST).astype(str)
    pl.DataFrame(
        {
            "topic": np.repeat(queries, posts.shape[1]),
            "item": item,
            "post": item,
            "rank": order.astype(np.int64),
            "score": 1 / order,
            "order": order,
        }
    ).write_parquet(path)
    upload = Upload.objects.create(
        name=f"{tag}.tsv", size=1, sha256=f"{number:064}", uploaded_at=made.at
    )
    return Run.objects.create(
        task=made.task,
        team=team,
        upload=upload,
        sha256=upload.sha256,
        tag=tag,
        identifier=tag,
        is_primary=number % RUNS_A_TEAM == 0,
        submitted_at=made.at,
        status="valid",
        status_changed_at=made.at,
        report={"items": "posts", "order": "score", "rows": RETRIEVED * topics},
        index=f"indexes/{tag}.parquet",
    )
