"""The claim: scoring from stored indexes to stored scores is five times as fast as pytrec_eval over
dictionaries.

40 runs x 100 topics x 1,000 items, 450 judged a topic; nDCG', MAP' and P'@10 for each topic; every
value equal to 1e-9, ties and scores that are equal only as 32-bit floats among them; at most 300
MB. Ours is the service that the lab runs: qrels out of the database, indexes out of the storage,
scores into the database (SQLite, as embedded). Theirs reads the files into dictionaries and stores
nothing. Two cases: runs that hold a third of the judged items, and the worst, runs that hold them
all. Each side runs in a process of its own, three times in turn; the median counts.

    .venv/bin/python benchmarks/score.py
"""

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import polars as pl
import pytrec_eval

sys.path.insert(0, str(Path(__file__).parents[1]))

from arqlab.ir.protocols.presets import PRIMES

RUNS, TOPICS, ITEMS, JUDGED = 40, 100, 1000, 450
WANTED_RATIO, WANTED_MEGABYTES, WANTED_DIFFERENCE = 5.0, 300, 1e-9
ROUNDS = 3
CASES = {"a third of the judged": 1 / 3, "all of the judged": 1.0}


def main() -> int:
    """Run both cases and print times, ratio, memory and the largest difference; 0 when the claim
    holds.
    """
    holds = True
    for case, share in CASES.items():
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            make_lab(folder, share)
            measured("database", folder)
            rounds = [
                {side: measured(side, folder) for side in ("theirs", "ours")} for _ in range(ROUNDS)
            ]
            theirs, ours = (middle([each[side] for each in rounds]) for side in ("theirs", "ours"))
            difference = largest_difference(folder)
        ratio = theirs["seconds"] / ours["seconds"]
        print(
            f"score, {case}: pytrec_eval over dictionaries {theirs['seconds']:.2f} s, {theirs['megabytes']:.0f} MB; "
            f"ours {ours['seconds']:.2f} s, {ours['megabytes']:.0f} MB; ratio {ratio:.1f} (wanted {WANTED_RATIO}); "
            f"largest difference {difference:.1e}"
        )
        holds &= (
            ratio >= WANTED_RATIO
            and difference <= WANTED_DIFFERENCE
            and ours["megabytes"] <= WANTED_MEGABYTES
        )
    return 0 if holds else 1


def measured(side: str, folder: Path) -> dict[str, float]:
    """Run one side in a fresh process, so that neither warms nor burdens the other."""
    command = [sys.executable, __file__, side, str(folder)]
    settings = {
        "ARQLAB_DATA": str(folder),
        "DATABASE_URL": "",
        "DJANGO_SETTINGS_MODULE": "arqlab.settings",
    }
    finished = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, env=os.environ | settings
    )
    return json.loads(finished.stdout)


def middle(rounds: list[dict[str, float]]) -> dict[str, float]:
    """Return the median of the times and the most memory of any round."""
    return {
        "seconds": statistics.median(each["seconds"] for each in rounds),
        "megabytes": max(each["megabytes"] for each in rounds),
    }


def largest_difference(folder: Path) -> float:
    """Compare the two sides' values row by row."""
    both = [pl.read_parquet(folder / f"{side}.parquet") for side in ("theirs", "ours")]
    joined = both[0].join(both[1], on=["run", "topic", "measure"], validate="1:1")
    if joined.height != RUNS * TOPICS * len(PRIMES):
        return float("inf")
    return float((joined["value"] - joined["value_right"]).abs().max())


def database(folder: Path) -> None:
    """Make the lab's database: the task, its qrels, and the runs as validation leaves them."""
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    from arqlab.core.models import Lab, Task, Team
    from arqlab.core.services.storing import insert_rows
    from assessment.models import Qrel, QrelSet
    from submissions.models import Run, Upload

    lab = Lab.objects.create(slug="benchmark", name="Benchmark", protocol="arqmath-3")
    task = Task.objects.create(
        lab=lab,
        slug="task1",
        name="Task 1",
        kind="answers",
        trec_items="posts",
        overrides={"measures": list(PRIMES)},
    )
    team = Team.objects.create(lab=lab, name="Team")
    fields = {"relevant_from": 2, "scale": task.protocol.labels.rows(), "sha256": "0" * 64}
    qrels = QrelSet.objects.create(task=task, version=1, name="official", items="posts", **fields)
    rows = pl.read_parquet(folder / "qrels.parquet")
    insert_rows(
        Qrel,
        rows.select(
            pl.lit(qrels.pk).alias("qrel_set_id"),
            query_id="topic",
            doc_id="item",
            relevance="label",
        ),
    )
    for path in sorted(folder.glob("run*.parquet")):
        stored = folder / "files" / "indexes" / path.name
        stored.parent.mkdir(parents=True, exist_ok=True)
        path.rename(stored)
        upload = Upload.objects.create(name=path.name, size=1, sha256="0" * 64, uploaded_at=NOW)
        Run.objects.create(
            task=task,
            team=team,
            upload=upload,
            tag=path.stem,
            submitted_at=NOW,
            status="valid",
            status_changed_at=NOW,
            report={"items": "posts", "order": "score"},
            index=f"indexes/{path.name}",
        )


def forget_scores() -> None:
    """Take the scores of an earlier round out of the database."""
    from evaluation.models import RunScore, Scoring, TopicScore

    for model in (TopicScore, RunScore, Scoring):
        model.objects.all().delete()


def ours() -> None:
    """From the stored indexes to stored scores: what the beat calls."""
    from evaluation.services.scoring import score_waiting

    if score_waiting(at=NOW) != RUNS:
        raise RuntimeError("Not all runs were scored.")


def our_values() -> pl.DataFrame:
    """Return the scores that were stored."""
    from evaluation.models import TopicScore

    rows = TopicScore.objects.values_list("run__tag", "query_id", "measure", "value")
    return pl.DataFrame(list(rows), schema=["run", "topic", "measure", "value"], orient="row")


def theirs(folder: Path) -> pl.DataFrame:
    """Read each file into dictionaries and give them to pytrec_eval, one after the other."""
    labels: dict[str, dict[str, int]] = {}
    for topic, item, label in pl.read_parquet(folder / "qrels.parquet").iter_rows():
        labels.setdefault(topic, {})[item] = label
    evaluators = {
        "ndcg_cut_1000": pytrec_eval.RelevanceEvaluator(
            labels, {"ndcg_cut.1000"}, judged_docs_only_flag=True
        ),
        "binary": pytrec_eval.RelevanceEvaluator(
            labels, {"map", "P.10"}, relevance_level=2, judged_docs_only_flag=True
        ),
    }
    rows = []
    for path in sorted(folder.glob("run*.tsv")):
        run: dict[str, dict[str, float]] = {}
        with path.open() as file:
            for line in file:
                topic, _, item, _, score, _ = line.split("\t")
                run.setdefault(topic, {})[item] = float(score)
        found = [evaluator.evaluate(run) for evaluator in evaluators.values()]
        for topic in labels:
            values = {key: value for each in found for key, value in each[topic].items()}
            rows += [(path.stem, topic, name, values[key]) for name, key in NAMES.items()]
    return pl.DataFrame(rows, schema=["run", "topic", "measure", "value"], orient="row")


NOW = datetime(2026, 11, 21, tzinfo=UTC)
NAMES = {
    "nDCG(judged_only=True)@1000": "ndcg_cut_1000",
    "AP(rel=2,judged_only=True)": "map",
    "P(rel=2,judged_only=True)@10": "P_10",
}


def make_lab(folder: Path, share: float) -> None:
    """Write the qrels, and each run as a file in TREC's six columns and as the index that
    validation stores.
    """
    random = np.random.default_rng(2022)
    topics = [f"A.{300 + number}" for number in range(TOPICS)]
    pools = [random.choice(2_800_000, size=4 * ITEMS, replace=False).astype(str) for _ in topics]
    qrels = {
        "topic": np.repeat(topics, JUDGED),
        "item": np.concatenate([pool[:JUDGED] for pool in pools]),
        "label": random.choice(4, p=[0.77, 0.14, 0.06, 0.03], size=TOPICS * JUDGED).astype(np.int8),
    }
    pl.DataFrame(qrels).write_parquet(folder / "qrels.parquet")
    known = int(JUDGED * share)
    for number in range(RUNS):
        items = [
            np.concatenate(
                [
                    random.permutation(pool[:JUDGED])[:known],
                    random.permutation(pool[JUDGED:])[: ITEMS - known],
                ]
            )
            for pool in pools
        ]
        # Every fourth run is full of ties; the scores of every third differ only beyond 32-bit
        # floats.
        scores = random.normal(10, 3, TOPICS * ITEMS).round(2 if number % 4 == 0 else 9)
        scores = np.float64(2**24) + scores if number % 3 == 0 else scores
        write_run(
            folder / f"run{number:02}", np.repeat(topics, ITEMS), np.concatenate(items), scores
        )


def write_run(path: Path, topics: np.ndarray, items: np.ndarray, scores: np.ndarray) -> None:
    """Write one run both ways; its index is in trec_eval's order."""
    run = pl.DataFrame({"topic": topics, "item": items, "score": scores}).with_columns(
        single=pl.col("score").cast(pl.Float32), post=pl.col("item")
    )
    rank = pl.col("score").rank("ordinal", descending=True).over("topic").cast(pl.Int64)
    run = run.with_columns(rank=rank).sort("topic", "rank")
    columns = [
        "topic",
        pl.lit("Q0").alias("q0"),
        "item",
        "rank",
        "score",
        pl.lit("tag").alias("tag"),
    ]
    run.select(columns).write_csv(path.with_suffix(".tsv"), separator="\t", include_header=False)
    ordered = run.sort("topic", "single", "item", descending=[False, True, True])
    order = pl.int_range(1, pl.len() + 1, dtype=pl.Int32).over("topic")
    index = ordered.with_columns(order=order).select(
        "topic", "item", "post", "rank", "score", "order"
    )
    index.write_parquet(path.with_suffix(".parquet"))


def run_side(side: str, folder: Path) -> None:
    """Time one side, keep its values, and print its figures as JSON."""
    if side != "theirs":
        import django

        django.setup()
    if side == "database":
        database(folder)
        print(json.dumps({}))
        return
    if side == "ours":
        forget_scores()
    started = time.perf_counter()
    values = ours() if side == "ours" else theirs(folder)
    seconds = time.perf_counter() - started
    # Not getrusage: its peak counts the parent's memory from before this program was started.
    peak = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    megabytes = int(peak[1]) / 1024 if peak else float("nan")
    (our_values() if values is None else values).write_parquet(folder / f"{side}.parquet")
    print(json.dumps({"seconds": seconds, "megabytes": megabytes}))


if __name__ == "__main__":
    if len(sys.argv) == 3:
        run_side(sys.argv[1], Path(sys.argv[2]))
    else:
        sys.exit(main())
