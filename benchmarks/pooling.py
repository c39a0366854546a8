"""The claims: a pool is computed from the stored indexes while one waits for it, and a plan while
one moves a slider.

Posts: 40 runs x 100 topics x 1,000, depth 45/20, in under 1 second. Formulas: 20 runs x 76 topics x
1,000 against a map of 3 million instances, 25/15 visually distinct and five instances of each, in
under 2 seconds. A plan of the posts in under 0.1 second, once the planner has read the runs. The
pool of posts frozen in PostgreSQL, from the runs' rows to its own, in under 4 seconds. Indexes and
map are Parquet files, as the lab stores them; the time is from their names to the pool's bytes.
Beside it the same union is made by hand, in plain Python from the same files: both must hold the
same items. Each side runs in a process of its own; the best of three rounds counts, because others
may use the machine.

    .venv/bin/python benchmarks/pooling.py
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).parents[1]))

from arqlab.ir.pooling.depths import PooledRun
from arqlab.ir.pooling.plans import Planner
from arqlab.ir.pooling.pools import PoolSources, make_pool, write_pool
from arqlab.ir.protocols.presets import PROTOCOLS, PoolProtocol
from arqlab.ir.records import ItemKind, TaskKind
from tests.everywhere import postgresql_server

ITEMS, INSTANCES, POOL = 1000, 3_000_000, 4000
KINDS = ("primary", "alternate", "alternate", "alternate", "baseline-primary")
ROUNDS, PLANS = 3, 20
POSTS = PROTOCOLS["arqmath-3"].tasks[TaskKind.ANSWERS].pool
FORMULAS = PROTOCOLS["arqmath-3"].tasks[TaskKind.FORMULAS].pool


def main() -> int:
    """Measure every case and print its seconds; 0 when all claims hold and every pool is the one
    made by hand.
    """
    holds = True
    with tempfile.TemporaryDirectory() as name, postgresql_server() as database:
        if database is None:
            sys.exit("PostgreSQL's server was not found. Install it: apt-get install postgresql")
        folder = Path(name)
        os.environ |= {
            "DATABASE_URL": database,
            "ARQLAB_SECRET_KEY": "x" * 50,
            "ARQLAB_DATA": str(folder / "data"),
        }
        make_lab(folder)
        for case, (wanted, by_hand) in CASES.items():
            ours = best(case, folder)
            found = f"pooling, {case}: {ours['seconds']:.3f} s (wanted {wanted}), {ours['items']:,} items, "
            found += f"{ours['processor']:.1f} s of processors in all"
            holds &= ours["seconds"] < wanted
            if by_hand:
                theirs = best(by_hand, folder)
                is_same = items_of(folder, case).equals(items_of(folder, by_hand))
                found += f"; by hand {theirs['seconds']:.1f} s, {'the same' if is_same else 'OTHER'} items"
                holds &= is_same
            print(found)
    return 0 if holds else 1


def best(side: str, folder: Path) -> dict[str, float]:
    """Run one side in fresh processes, so that none warms or burdens another, and give its best
    round.
    """
    rounds = []
    for _ in range(1 if side.endswith("by hand") else ROUNDS):
        finished = subprocess.run(
            [sys.executable, __file__, side, str(folder)],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
        rounds.append(json.loads(finished.stdout))
    return min(rounds, key=lambda each: each["seconds"])


def items_of(folder: Path, side: str) -> pl.DataFrame:
    """Return the items that a side pooled, sorted."""
    return pl.read_parquet(folder / f"{side}.parquet").unique().sort("topic", "item")


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
    """Make a pool and its bytes, and say how long it took."""
    started = time.perf_counter()
    sources = PoolSources(runs_of(folder, task), visual=pl.scan_parquet(folder / "map.parquet"))
    pool = make_pool(sources, protocol, kind=kind, seed=2022)
    write_pool(pool)
    return time.perf_counter() - started, pool


def plan(folder: Path) -> tuple[float, pl.DataFrame]:
    """Move a slider: plan at many depths, and give the mean time of one."""
    runs = runs_of(folder, "A")
    kinds = {run.name: run.kind for run in runs}
    planner = Planner(PoolSources(runs), visually_distinct=False, deepest=100)
    started = time.perf_counter()
    for primary in range(26, 26 + PLANS):
        planned = planner.plan(PoolProtocol(primary=primary, alternate=20), kinds)
    seconds = (time.perf_counter() - started) / PLANS
    return seconds, pl.DataFrame({"topic": "", "item": range(planned.items)})


def stored(folder: Path) -> tuple[float, pl.DataFrame]:
    """Freeze the pool of posts of a lab in the database; its collection holds every post."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "arqlab.settings"
    import django

    django.setup()
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
    """Take the top of each list into a set."""
    started = time.perf_counter()
    pool = set()
    for run in runs_of(folder, "A"):
        depth = POSTS.depth_of(run.kind)
        pool |= {(topic, item) for topic, items in lists_of(run) for item in items[:depth]}
    return time.perf_counter() - started, as_items(pool)


def formulas_by_hand(folder: Path) -> tuple[float, pl.DataFrame]:
    """Go down each list until enough formulas were seen."""
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
    """Return the items of each topic of a run, from the top down."""
    lists: dict[str, list[tuple[int, str]]] = {}
    for topic, item, order in (
        run.index.lazy().select("topic", "item", "order").collect().iter_rows()
    ):
        lists.setdefault(topic, []).append((order, item))
    return ((topic, [item for _, item in sorted(rows)]) for topic, rows in lists.items())


def as_items(pool: set[tuple[str, str]]) -> pl.DataFrame:
    """Return a set of items as a frame."""
    return pl.DataFrame(list(pool), schema=["topic", "item"], orient="row")


# The seconds that a case may take, and the side that makes the same pool by hand, if one does.
CASES: dict[str, tuple[float, str]] = {
    "posts computed": (1.0, "posts by hand"),
    "formulas computed": (2.0, "formulas by hand"),
    "posts planned": (0.1, ""),
    "posts computed and stored": (4.0, "posts by hand"),
}
SIDES: dict[str, Callable[[Path], tuple[float, pl.DataFrame]]] = {
    "posts computed": posts,
    "posts by hand": posts_by_hand,
    "formulas computed": formulas,
    "formulas by hand": formulas_by_hand,
    "posts planned": plan,
    "posts computed and stored": stored,
}


# --- the lab


def make_lab(folder: Path) -> None:
    """Write the indexes of the runs of both tasks, and the visual map: half of the instances in
    clusters of all sizes.
    """
    random = np.random.default_rng(2022)
    write_runs(folder, "A", 40, [f"A.{301 + number}" for number in range(100)], random)
    write_runs(folder, "B", 20, [f"B.{301 + number}" for number in range(76)], random)
    visual = np.minimum(random.zipf(1.3, INSTANCES), 900_000)
    alone = random.random(INSTANCES) < 0.5
    visual[alone] = 1_000_000 + random.integers(0, INSTANCES, alone.sum())
    ids = pl.DataFrame({"formula_id": np.arange(INSTANCES), "visual_id": visual})
    ids.with_columns(pl.all().cast(pl.String)).write_parquet(folder / "map.parquet")


def lab_in_database(folder: Path) -> Any:
    """Make a lab with the runs of posts, valid, their indexes in the storage, and a collection of
    the posts.
    """
    from django.core.files.base import ContentFile
    from django.core.management import call_command

    from arqlab.core.models import Lab, Task, Team, Topic
    from collection.models import Collection, LabCollection, Post
    from submissions.models import Run, Upload

    call_command("migrate", verbosity=0)
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
    folder: Path, task: str, runs: int, topics: list[str], random: np.random.Generator
) -> None:
    """Write runs that agree at the top: each ranks the same items of a topic, the likely ones
    first, in its own way.
    """
    likely = [random.choice(INSTANCES, size=POOL, replace=False) for _ in topics]
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
        index.write_parquet(folder / f"{task}-run{number:02}.parquet")


def run_side(side: str, folder: Path) -> None:
    """Time one side, keep its items, and print its figures as JSON."""
    before = time.process_time()
    seconds, pool = SIDES[side](folder)
    processor = time.process_time() - before
    items = pool.select("topic", "item").unique()
    items.write_parquet(folder / f"{side}.parquet")
    # Where this is less than the seconds, others had the processors.
    print(json.dumps({"seconds": seconds, "items": items.height, "processor": processor}))


if __name__ == "__main__":
    if len(sys.argv) == 3:
        run_side(sys.argv[1], Path(sys.argv[2]))
    else:
        sys.exit(main())
