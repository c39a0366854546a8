"""Claim: a pool is computed from the stored indexes in under 1 second (posts) or 2 seconds
(formulas), and a plan in under 0.1 second.

Posts: 40 runs x 100 topics x 1,000 items, depth 45/20. Formulas: 20 runs x 76 topics x 1,000 items
with a map of 3 million instances, 25/15 visually distinct ones. A plan of the posts is computed
after the planner has read the runs. The pool of posts is frozen in PostgreSQL, from the runs' rows
to its own, in under 4 seconds. Indexes and map are Parquet files, as the lab stores them; the time
is from their names to the pool's bytes. These goals are absolute.

The peer makes the same union by hand, in plain Python from the same files: both must hold the same
items. The ratio to it has no goal. Each side runs in a process of its own.
"""

import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from arqkit.pooling.depths import PooledRun
from arqkit.pooling.plans import Planner
from arqkit.pooling.pools import PoolSources, make_pool, write_pool
from arqkit.protocols.presets import PROTOCOLS, PoolProtocol
from arqkit.records import ItemKind, TaskKind
from benchmarks.common import (
    Benchmark,
    environment,
    in_process,
    median_of,
    postgresql,
    set_up_django,
    start,
)

ITEMS, POOL = 1000, 4000
KINDS = ("primary", "alternate", "alternate", "alternate", "baseline-primary")
PLANS = 20
POSTS = PROTOCOLS["arqmath-3"].tasks[TaskKind.ANSWERS].pool
FORMULAS = PROTOCOLS["arqmath-3"].tasks[TaskKind.FORMULAS].pool


def main(bench: Benchmark) -> None:
    """Measure every case, and compare its pool with the one made by hand."""
    with tempfile.TemporaryDirectory() as name, postgresql() as server:
        folder = Path(name)
        make_indexes(bench, folder)
        variables = environment(folder / "data", server)
        for case, (ours, by_hand, limit) in CASES.items():
            sides = [ours, by_hand] if by_hand else [ours]
            found = bench.alternate(
                {
                    each.__name__: partial(
                        in_process, run_side, variables, side=each.__name__, folder=name
                    )
                    for each in sides
                }
            )
            took = median_of(found[ours.__name__], "seconds")
            print(f"{case}: {found[ours.__name__][0]['items']:,} items")
            bench.limit(f"pooling, {case}", took, limit, "s")
            if by_hand:
                ratio = took / median_of(found[by_hand.__name__], "seconds")
                print(f"  ratio to the pool made by hand {ratio:.2f}")
                pools = [pl.read_parquet(folder / f"{each.__name__}.parquet") for each in sides]
                bench.require(
                    f"{case} holds the items of the pool by hand", pools[0].equals(pools[1])
                )


def run_side(side: str, folder: str) -> dict[str, float]:
    """Run a side and keep its items; return the seconds and the number of items."""
    took, pool = SIDES[side](Path(folder))
    items = pool.select("topic", "item").unique().sort("topic", "item")
    items.write_parquet(Path(folder, f"{side}.parquet"))
    return {"seconds": took, "items": items.height}


# --- the sides


def posts(folder: Path) -> tuple[float, pl.DataFrame]:
    """Make the pool of posts."""
    return timed(folder, "A", POSTS, ItemKind.POSTS)


def formulas(folder: Path) -> tuple[float, pl.DataFrame]:
    """Make the pool of visually distinct formulas."""
    return timed(folder, "B", FORMULAS, ItemKind.VISUAL_IDS)


def timed(
    folder: Path, task: str, protocol: PoolProtocol, kind: ItemKind
) -> tuple[float, pl.DataFrame]:
    """Make a pool and its bytes; return the seconds and the pool."""
    started = time.perf_counter()
    sources = PoolSources(runs_of(folder, task), visual=pl.scan_parquet(folder / "map.parquet"))
    pool = make_pool(sources, protocol, kind=kind, seed=2022)
    write_pool(pool)
    return time.perf_counter() - started, pool


def plan(folder: Path) -> tuple[float, pl.DataFrame]:
    """Plan at many depths, as an organizer moves a slider; return the mean seconds of a plan."""
    runs = runs_of(folder, "A")
    kinds = {run.name: run.kind for run in runs}
    planner = Planner(PoolSources(runs), visually_distinct=False, deepest=100)
    started = time.perf_counter()
    for primary in range(26, 26 + PLANS):
        planned = planner.plan(PoolProtocol(primary=primary, alternate=20), kinds)
    seconds = (time.perf_counter() - started) / PLANS
    return seconds, pl.DataFrame({"topic": "", "item": range(planned.items)})


def stored(folder: Path) -> tuple[float, pl.DataFrame]:
    """Freeze the pool of posts in the database; the collection holds every post."""
    set_up_django()
    from assessment.models import PoolItem
    from assessment.pools.selectors.choices import PoolChoice
    from assessment.pools.services.freezing import freeze_pool

    task = lab_in_database(folder)
    started = time.perf_counter()
    pool = freeze_pool(
        task=task, choice=PoolChoice(POSTS, seed=2022), by=None, at=datetime.now(UTC)
    )
    seconds = time.perf_counter() - started
    items = PoolItem.objects.filter(pool=pool).values_list("topic__query_id", "item")
    return seconds, as_items(set(items))


def posts_by_hand(folder: Path) -> tuple[float, pl.DataFrame]:
    """Add the top of each list to a set."""
    started = time.perf_counter()
    pool = set()
    for run in runs_of(folder, "A"):
        depth = POSTS.depth_of(run.kind)
        pool |= {(topic, item) for topic, items in lists_of(run) for item in items[:depth]}
    return time.perf_counter() - started, as_items(pool)


def formulas_by_hand(folder: Path) -> tuple[float, pl.DataFrame]:
    """Read each list from the top until it has enough distinct formulas."""
    started = time.perf_counter()
    known = dict(pl.read_parquet(folder / "map.parquet").iter_rows())
    pool = set()
    for run in runs_of(folder, "B"):
        depth = FORMULAS.depth_of(run.kind)
        for topic, items in lists_of(run):
            seen: set[str] = set()
            for item in items:
                seen.add(known.get(item, item))
                if len(seen) == depth:
                    break
            pool |= {(topic, formula) for formula in seen}
    return time.perf_counter() - started, as_items(pool)


def runs_of(folder: Path, task: str) -> list[PooledRun]:
    """Return the runs of a task by the names of their stored indexes; five of a team."""
    paths = sorted(folder.glob(f"{task}-run*.parquet"))
    return [
        PooledRun(path.stem, f"Team {number // 5}", KINDS[number % 5], pl.scan_parquet(path))
        for number, path in enumerate(paths)
    ]


def lists_of(run: PooledRun) -> Iterator[tuple[str, list[str]]]:
    """Return the items of each topic of a run, from the top."""
    lists: dict[str, list[tuple[int, str]]] = {}
    for topic, item, order in (
        run.index.lazy().select("topic", "item", "order").collect().iter_rows()
    ):
        lists.setdefault(topic, []).append((order, item))
    return ((topic, [item for _, item in sorted(rows)]) for topic, rows in lists.items())


def as_items(pool: set[tuple[str, str]]) -> pl.DataFrame:
    """Return a set of items as a frame."""
    return pl.DataFrame(list(pool), schema=["topic", "item"], orient="row")


Side = Callable[[Path], tuple[float, pl.DataFrame]]
# Ours, the side that makes the same pool by hand, and the limit in seconds.
CASES: dict[str, tuple[Side, Side | None, float]] = {
    "posts computed": (posts, posts_by_hand, 1.0),
    "formulas computed": (formulas, formulas_by_hand, 2.0),
    "posts planned": (plan, None, 0.1),
    "posts computed and stored": (stored, posts_by_hand, 4.0),
}
SIDES = {
    side.__name__: side for side in (posts, posts_by_hand, formulas, formulas_by_hand, plan, stored)
}


# --- the lab


def make_indexes(bench: Benchmark, folder: Path) -> None:
    """Write the indexes of the runs of both tasks, and a visual map that clusters half of the
    instances.
    """
    instances = bench.sized(3_000_000, 20_000)
    random = np.random.default_rng(2022)
    for letter, runs, topics in (("A", 40, 100), ("B", 20, 76)):
        names = [f"{letter}.{301 + number}" for number in range(bench.sized(topics, 2))]
        write_runs(folder, bench.sized(runs, 5), names, instances, random)
    visual = np.minimum(random.zipf(1.3, instances), 900_000)
    alone = random.random(instances) < 0.5
    visual[alone] = 1_000_000 + random.integers(0, instances, alone.sum())
    ids = pl.DataFrame({"formula_id": np.arange(instances), "visual_id": visual})
    ids.with_columns(pl.all().cast(pl.String)).write_parquet(folder / "map.parquet")


def lab_in_database(folder: Path) -> Any:
    """Make a lab with valid runs of posts, their indexes in the storage, and a collection."""
    from django.core.files.base import ContentFile

    from arqlab.core.models import Lab, Task, Team, Topic
    from collection.models import Collection, LabCollection, Post
    from submissions.models import Run, Upload

    at = datetime.now(UTC)
    lab = Lab.objects.create(slug=f"lab-{Lab.objects.count()}", name="Lab", protocol="arqmath-3")
    task = Task.objects.create(
        lab=lab, slug="task1", name="Answers", kind="answers", trec_items="posts"
    )
    Topic.objects.bulk_create(
        Topic(task=task, query_id=f"A.{301 + number}", position=number) for number in range(100)
    )
    upload = Upload.objects.create(name="run.tsv", size=1, sha256="0" * 64, uploaded_at=at)
    shown: set[str] = set()
    for run in runs_of(folder, "A"):
        team, _ = Team.objects.get_or_create(lab=lab, name=run.team)
        marks = {"is_primary": run.kind == "primary", "is_baseline": run.kind == "baseline-primary"}
        marks["is_primary"] |= marks["is_baseline"]
        row = Run(
            task=task,
            team=team,
            upload=upload,
            tag=run.name,
            identifier=run.name,
            submitted_at=at,
            status_changed_at=at,
            **marks,
        )
        row.status, row.report = "valid", {"items": "posts", "order": "score"}
        row.index.save(
            "run.parquet", ContentFile((folder / f"{run.name}.parquet").read_bytes()), save=False
        )
        row.save()
        shown |= {item for _, items in lists_of(run) for item in items[: POSTS.primary]}
    collection, is_new = Collection.objects.get_or_create(slug="posts", defaults={"loaded_at": at})
    LabCollection.objects.create(lab=lab, collection=collection)
    if is_new:
        posts = (
            Post(collection=collection, post_id=item, kind="answer", thread_id=item)
            for item in shown
        )
        Post.objects.bulk_create(posts, batch_size=5000)
    return Task.objects.select_related("lab").get(pk=task.pk)


def write_runs(
    folder: Path, runs: int, topics: list[str], instances: int, random: np.random.Generator
) -> None:
    """Write runs that agree at the top: each ranks the same items of a topic in its own order, with
    likely ones first.
    """
    likely = [random.choice(instances, size=POOL, replace=False) for _ in topics]
    order = np.tile(np.arange(1, ITEMS + 1), len(topics))
    for number in range(runs):
        places = [
            np.argsort(random.exponential(size=POOL) * np.arange(1, POOL + 1))[:ITEMS]
            for _ in topics
        ]
        items = np.concatenate([pool[place] for pool, place in zip(likely, places, strict=True)])
        columns = {
            "item": items.astype(str),
            "post": (items // 3).astype(str),
            "rank": order,
            "score": 1000 / order,
        }
        index = pl.DataFrame(
            {"topic": np.repeat(topics, ITEMS)} | columns | {"order": order.astype(np.int32)}
        )
        index.write_parquet(folder / f"{topics[0][0]}-run{number:02}.parquet")


if __name__ == "__main__":
    start(main, rounds=3, sides=(run_side,))
