"""Claim: scoring from stored indexes to stored scores is eight times as fast as pytrec_eval over
dictionaries.

40 runs x 100 topics x 1,000 items, 450 judged per topic; all twelve measures of ARQMath's answer
retrieval for each topic. Every value is equal to 1e-9, including ties and scores that are equal
only as 32-bit floats; peak memory is at most 300 MB. Ours is the service that the lab runs: qrels
from the database, indexes from the storage, scores into the database (SQLite, as embedded). The
peer reads each run file into a dictionary once, computes the eleven measures that trec_eval has in
two passes (the whole list, and judged items only), and stores nothing. Two cases: runs that
retrieve a third of the judged items, and the worst case, runs that retrieve all of them. Ten times
as many runs take at most twelve times as long and 400 MB. Each side runs in a process of its own.
"""

import tempfile
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytrec_eval

from benchmarks.common import (
    Benchmark,
    environment,
    in_process,
    median_of,
    peak_megabytes,
    seconds,
    set_up_django,
    start,
)

ITEMS, JUDGED = 1000, 450
LEAST, MOST_MEGABYTES, LARGEST_DIFFERENCE = 8.0, 300, 1e-9
TEN, MOST_TIMES = 10, 12.0
CASES = {"a third of the judged": (1 / 3, LEAST), "all of the judged": (1.0, 5.0)}
"""Share of the judged items that runs retrieve, and the goal of the ratio."""
NOW = datetime(2026, 11, 21, tzinfo=UTC)
PRIME_NAMES = {
    "nDCG(judged_only=True)@1000": "ndcg_cut_1000",
    "AP(rel=2,judged_only=True)": "map",
    "P(rel=2,judged_only=True)@10": "P_10",
}
WHOLE_NAMES = {
    "nDCG@1000": "ndcg_cut_1000",
    "AP(rel=2)": "map",
    "Bpref(rel=2)": "bpref",
    "RR(rel=2)": "recip_rank",
    **{f"P(rel=2)@{cutoff}": f"P_{cutoff}" for cutoff in (5, 10, 15, 20)},
}


def main(bench: Benchmark) -> None:
    """Measure each case."""
    cases = list(CASES.items())
    for case, (share, least) in bench.sized(cases, cases[:1]):
        with tempfile.TemporaryDirectory() as name:
            compare(bench, case, share, least, Path(name))
    with tempfile.TemporaryDirectory() as name:
        grow(bench, Path(name))


def compare(bench: Benchmark, case: str, share: float, least: float, folder: Path) -> None:
    """Compare time, memory and values of both sides."""
    runs, topics = bench.sized(40, 2), bench.sized(100, 4)
    make_lab(folder, share, runs=runs, topics=topics)
    variables = environment(folder)
    in_process(make_database, variables, folder=str(folder))
    sides = {
        side.__name__: partial(in_process, side, variables, folder=str(folder))
        for side in (theirs, ours)
    }
    found = bench.alternate(sides)
    peer, own = (median_of(found[side], "seconds") for side in ("theirs", "ours"))
    print(f"{case}: pytrec_eval over dictionaries {peer:.2f} s, ours {own:.2f} s")
    bench.ratio(f"score, {case}", peer / own, at_least=least)
    peak = max(each["megabytes"] for each in found["ours"])
    bench.limit(f"score, {case}, peak memory", peak, MOST_MEGABYTES, "MB")
    difference = largest_difference(folder, values=runs * topics * len(PRIME_NAMES | WHOLE_NAMES))
    bench.require(f"values differ by at most {difference:.1e}", difference <= LARGEST_DIFFERENCE)


def grow(bench: Benchmark, folder: Path) -> None:
    """Compare the time of ten times as many runs, and limit their memory."""
    runs, topics = bench.sized(40, 2), bench.sized(100, 4)
    took = {}
    for times in (1, TEN):
        part = folder / str(times)
        part.mkdir()
        make_lab(part, 1 / 3, runs=runs * times, topics=topics)
        in_process(make_database, environment(part), folder=str(part))
        took[times] = in_process(ours, environment(part), folder=str(part))
    ratio = took[TEN]["seconds"] / took[1]["seconds"]
    bench.ratio(f"score, {TEN * runs} runs to {runs}", ratio, at_most=MOST_TIMES)
    bench.limit(f"score, {TEN * runs} runs, peak memory", took[TEN]["megabytes"], 400, "MB")


def largest_difference(folder: Path, *, values: int) -> float:
    """Return the largest difference of both sides' values; infinity if values are missing."""
    both = [pl.read_parquet(folder / f"{side}.parquet") for side in ("theirs", "ours")]
    joined = both[0].join(both[1], on=["run", "topic", "measure"], validate="1:1")
    if joined.height != values:
        return float("inf")
    return float((joined["value"] - joined["value_right"]).abs().max())


def make_database(folder: str) -> None:
    """Make the task with its qrels, and the runs as validation leaves them."""
    set_up_django()
    from arqlab.core.models import Lab, Task, Team
    from arqlab.core.services.storing import insert_rows
    from assessment.models import Qrel, QrelSet
    from submissions.models import Run, Upload

    lab = Lab.objects.create(slug="benchmark", name="Benchmark", protocol="arqmath-3")
    task = Task.objects.create(
        lab=lab, slug="task1", name="Task 1", kind="answers", trec_items="posts"
    )
    team = Team.objects.create(lab=lab, name="Team")
    rows = pl.read_parquet(Path(folder) / "qrels.parquet")
    fields = {"relevant_from": 2, "scale": task.protocol.labels.rows(), "sha256": "0" * 64}
    fields |= {"lines": rows.height, "topics": rows["topic"].n_unique()}
    qrels = QrelSet.objects.create(task=task, version=1, name="official", items="posts", **fields)
    insert_rows(
        Qrel,
        rows.select(
            pl.lit(qrels.pk).alias("qrel_set_id"),
            query_id="topic",
            doc_id="item",
            relevance="label",
        ),
    )
    for path in sorted(Path(folder).glob("run*.parquet")):
        stored = Path(folder, "files", "indexes", path.name)
        stored.parent.mkdir(parents=True, exist_ok=True)
        path.rename(stored)
        upload = Upload.objects.create(name=path.name, size=1, sha256="0" * 64, uploaded_at=NOW)
        Run.objects.create(
            task=task,
            team=team,
            upload=upload,
            tag=path.stem,
            identifier=path.stem,
            submitted_at=NOW,
            status="valid",
            status_changed_at=NOW,
            report={"items": "posts", "order": "score"},
            index=f"indexes/{path.name}",
        )


def ours(folder: str) -> dict[str, float]:
    """Score the stored indexes and store the scores, as the scheduled task does."""
    import django

    django.setup()
    from evaluation.models import RunScore, Scoring, TopicScore
    from evaluation.services.scoring import score_waiting

    for model in (TopicScore, RunScore, Scoring):
        model.objects.all().delete()
    took = seconds(lambda: score_waiting(at=NOW))
    figures = {"seconds": took, "megabytes": peak_megabytes()}
    scores = TopicScore.objects.exclude(measure="Judged@10")  # not in trec_eval
    rows = scores.values_list("run__tag", "query_id", "measure", "value")
    write_values(Path(folder, "ours.parquet"), list(rows))
    return figures


def theirs(folder: str) -> dict[str, float]:
    """Read each file into dictionaries and evaluate them, one after the other."""
    rows: list[tuple[str, str, str, float]] = []
    took = seconds(lambda: rows.extend(evaluate(Path(folder))))
    write_values(Path(folder, "theirs.parquet"), rows)
    return {"seconds": took}


def write_values(path: Path, rows: list[tuple[str, str, str, float]]) -> None:
    """Keep the values of a side."""
    columns = ["run", "topic", "measure", "value"]
    pl.DataFrame(rows, schema=columns, orient="row").write_parquet(path)


def evaluate(folder: Path) -> list[tuple[str, str, str, float]]:
    """Return the values of pytrec_eval."""
    labels: dict[str, dict[str, int]] = {}
    for topic, item, label in pl.read_parquet(folder / "qrels.parquet").iter_rows():
        labels.setdefault(topic, {})[item] = label
    # The threshold applies to the binary measures only: nDCG uses the labels as they are.
    passes = [
        (
            names,
            pytrec_eval.RelevanceEvaluator(
                labels,
                {dotted(name) for name in names.values()},
                relevance_level=2,
                judged_docs_only_flag=prime,
            ),
        )
        for names, prime in ((PRIME_NAMES, True), (WHOLE_NAMES, False))
    ]
    rows = []
    for path in sorted(folder.glob("run*.tsv")):
        run: dict[str, dict[str, float]] = {}
        with path.open(encoding="utf-8") as file:
            for line in file:
                topic, _, item, _, score, _ = line.split("\t")
                run.setdefault(topic, {})[item] = float(score)
        for names, evaluator in passes:
            for topic, values in evaluator.evaluate(run).items():
                rows += [(path.stem, topic, name, values[key]) for name, key in names.items()]
    return rows


def dotted(name: str) -> str:
    """Return the name by which pytrec_eval takes a measure with a cutoff: P.10 for P_10."""
    kind, _, cutoff = name.rpartition("_")
    return f"{kind}.{cutoff}" if cutoff.isdigit() else name


def make_lab(folder: Path, share: float, *, runs: int, topics: int) -> None:
    """Write the qrels, and each run as a TREC file and as the index that validation stores."""
    random = np.random.default_rng(2022)
    names = [f"A.{300 + number}" for number in range(topics)]
    pools = [random.choice(2_800_000, size=4 * ITEMS, replace=False).astype(str) for _ in names]
    qrels = {
        "topic": np.repeat(names, JUDGED),
        "item": np.concatenate([pool[:JUDGED] for pool in pools]),
        "label": random.choice(4, p=[0.77, 0.14, 0.06, 0.03], size=topics * JUDGED).astype(np.int8),
    }
    pl.DataFrame(qrels).write_parquet(folder / "qrels.parquet")
    known = int(JUDGED * share)
    for number in range(runs):
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
        scores = random.normal(10, 3, topics * ITEMS).round(2 if number % 4 == 0 else 9)
        scores = np.float64(2**24) + scores if number % 3 == 0 else scores
        write_run(
            folder / f"run{number:02}", np.repeat(names, ITEMS), np.concatenate(items), scores
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


if __name__ == "__main__":
    start(main, rounds=3, sides=(make_database, ours, theirs))
