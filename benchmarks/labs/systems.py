"""Print the tables of docs/systems.md: `python -m benchmarks.labs.systems`.

The three labs are loaded into an empty ArqLab, whose systems write their runs with `make_baseline`.
The runs are scored with the judgments of the items that the sample of the collection has. All that
is read is in `../shared/data`: the network of equation embeddings is trained there, which takes an
hour of one core, unless `--network` names the folder of one that `benchmarks.labs.equations`
trained. A system that cannot run, such as one whose packages are missing (`bin/setup --systems`),
and each that `--without` names is left out of the tables, which is reported on standard error.
"""

import argparse
import csv
import gzip
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import polars as pl

from arqkit.formats.qrels.read import read_qrels
from arqkit.formulas.layout import layout_string
from arqkit.formulas.similarity import layout_symbols
from arqkit.retrieval.controls import shuffled_items
from arqkit.retrieval.rankings import min_max_average
from benchmarks.labs.results import bag_of_symbols, ideal_order, results_table
from tests.paths import ROOT, SHARED_DATA

EDITIONS = {1: "2020", 2: "2021", 3: "2022"}
OF_FORMULAS = {
    "tangent-s": "Formula search",
    "approach0": "Approach0",
    "equations": "Equation embeddings",
}
SYSTEMS = {
    "task1": {"bm25": "BM25", "tfidf": "TF-IDF", "dense": "Dense text", **OF_FORMULAS},
    "task2": OF_FORMULAS,
}
OFFICIAL = {
    ("1", "task1"): {
        "PSU1": "task1/PSU-task1-PSU1-auto-both-A.tsv.gz",
        "MIRMU ensemble": "task1/MIRMU-task1-OutOfCompetitionEnsemble-auto-both-A.tsv.gz",
    },
    ("1", "task2"): {"Tangent-S": "task2/Baseline-task2-TangentS-auto-math-P.visual-ids.tsv.gz"},
}


class Runs(NamedTuple):
    """The rankings of systems by their names, the judgments, and the items that count."""

    rankings: dict[str, pl.DataFrame]
    qrels: pl.DataFrame
    items: list[str]

    def table(self, against: str) -> str:
        """Return the results as a table in Markdown, with differences from a system if it ran."""
        known = against if against in self.rankings else None
        results = results_table(self.rankings, self.qrels, items=self.items, against=known)
        return markdown(results, against)

    def found_by_both(self, *systems: str) -> "Runs":
        """Return the rankings of two systems without what only one of them found."""
        pair = [self.rankings[system] for system in systems]
        both = pair[0].join(pair[1], on=["topic", "item"], how="semi").select("topic", "item")
        cut = (frame.join(both, on=["topic", "item"], how="semi") for frame in pair)
        return self._replace(rankings=dict(zip(systems, cut, strict=True)))


def pooled(parts: list[Runs]) -> Runs:
    """Return the rankings of systems that all editions have, with the topics of all."""
    names = [name for name in parts[0].rankings if all(name in p.rankings for p in parts)]
    columns = ["topic", "item", "score"]
    rankings = {n: pl.concat([p.rankings[n].select(columns) for p in parts]) for n in names}
    items = [item for part in parts for item in part.items]
    return Runs(rankings, pl.concat([part.qrels for part in parts]), items)


def arguments() -> argparse.Namespace:
    """Return the arguments of the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.labs.systems", description=__doc__)
    parser.add_argument("--network", type=Path, help="folder of a trained network")
    parser.add_argument(
        "--without", nargs="*", default=[], choices=list(SYSTEMS["task1"]), help="systems to omit"
    )
    return parser.parse_args()


def main(asked: argparse.Namespace) -> None:
    """Print a table for each edition and task, and those of all editions."""
    runs: dict[str, list[Runs]] = {"task1": [], "task2": []}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ARQLAB_DATA"] = folder
        manage("migrate", "--verbosity=0")
        formulas = pl.DataFrame(
            formulas_of_sample(), schema=["item", "visual_id", "mathml"], orient="row"
        )
        for edition in EDITIONS:
            manage("load_lab", str(SHARED_DATA / f"arqmath-{edition}"))
            if asked.network:
                use_network(asked.network, f"arqmath-{edition}")
            for task, made in runs.items():
                out = Path(folder) / f"{edition}-{task}"
                make_runs(f"arqmath-{edition}/{task}", out, set(asked.without))
                made.append(runs_of(edition, task, out, formulas))
    years = [*EDITIONS.values(), "All editions"]
    for task, made in runs.items():
        against = {"task1": "BM25", "task2": "Bag of symbols"}[task]
        for year, part in zip(years, [*made, pooled(made)], strict=True):
            print(f"\n**{year}, Task {task[-1]}**\n\n{part.table(against)}")
    for year, part in zip(years, [*runs["task2"], pooled(runs["task2"])], strict=True):
        if not {"Formula search", "Approach0"} <= part.rankings.keys():
            continue
        both = part.found_by_both("Formula search", "Approach0")
        print(f"\n**{year}, Task 2, what both found**\n\n{both.table('Approach0')}")


def make_runs(task: str, out: Path, without: set[str]) -> None:
    """Let the systems write their runs for a task to a folder; report those that cannot run."""
    out.mkdir()
    for system in SYSTEMS[task.partition("/")[2]]:
        if system in without:
            continue
        try:
            manage("make_baseline", task, f"--system={system}", f"--out={out / system}.tsv")
        except subprocess.CalledProcessError:
            print(f"{system} is not in the tables of {task}.", file=sys.stderr)


def manage(*words: str) -> None:
    """Run a command of ArqLab; its output goes to standard error."""
    command = [sys.executable, str(ROOT / "manage.py"), *words]
    subprocess.run(command, check=True, stdout=sys.stderr)


def use_network(trained: Path, lab: str) -> None:
    """Put a trained network where the labs of the sample look for theirs."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "arqlab.settings"
    import django

    django.setup()
    from arqlab.core.models import Task
    from contrib.retrieval.selectors import Sources
    from contrib.retrieval.services.equation_search import network_folder
    from contrib.retrieval.services.systems import SYSTEMS as DECLARED

    task = Task.objects.get(lab__slug=lab, slug="task1")
    folder = network_folder(Sources(task), DECLARED["equations"].settings)
    shutil.copytree(trained, folder, dirs_exist_ok=True)


def formulas_of_sample(kind: str = "slt") -> Iterator[list[str]]:
    """Yield the id, the visual id (perhaps empty) and the MathML or LaTeX of all formulas."""
    path = SHARED_DATA / f"collection/formulas.{kind}.tsv.gz"
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        for row in list(csv.reader(lines, delimiter="\t"))[1:]:
            yield [row[0], row[4], row[5]]


def runs_of(edition: int, task: str, folder: Path, formulas: pl.DataFrame) -> Runs:
    """Return the rankings of an edition's task, with official runs and controls."""
    is_visual = (edition, task) == (1, "task2")
    file = {
        "task1": "qrels.task1.tsv",
        "task2": "qrels.task2.visual-v2.tsv" if is_visual else "qrels.task2.instances.tsv",
    }[task]
    path = SHARED_DATA / f"arqmath-{edition}" / file
    qrels = read_qrels(path.read_bytes(), path=file)
    files = {name: folder / f"{key}.tsv" for key, name in SYSTEMS[task].items()}
    rankings = {name: ranking(file) for name, file in files.items() if file.exists()}
    if task == "task1":
        for other in ("Formula search", "Dense text"):
            if {"BM25", other} - rankings.keys():
                continue
            both = [rankings["BM25"], rankings[other]]
            rankings[f"BM25 + {other.lower()}"] = min_max_average(both)
        items = judged_answers()
    else:
        rankings["Bag of symbols"] = bag(edition, formulas)
        items = formulas["visual_id" if is_visual else "item"].to_list()
    if is_visual:
        visual = formulas.select("item", "visual_id").filter(pl.col("visual_id") != "")
        rankings = {name: distinct(frame, visual) for name, frame in rankings.items()}
    for name, run in OFFICIAL.get((str(edition), task), {}).items():
        rankings[f"{name} (official run)"] = ranking(SHARED_DATA / "arqmath-1/runs" / run)
    listed = [frame.filter(pl.col("item").is_in(items)) for frame in rankings.values()]
    rankings = dict(zip(rankings, listed, strict=True))
    rankings["Ideal order"] = ideal_order(qrels.filter(pl.col("item").is_in(items)))
    judged = pl.Series(sorted({*items} & {*qrels["item"]}))
    rankings["Random order"] = shuffled_items(
        qrels["topic"].unique().sort(), judged, seed=0, limit=len(judged)
    )
    return Runs(rankings, qrels, items)


def ranking(path: Path) -> pl.DataFrame:
    """Return the rows of a run file as a ranking."""
    data = path.read_bytes()
    data = gzip.decompress(data) if path.suffix == ".gz" else data
    rows = [line.split() for line in data.decode().splitlines()]
    return pl.DataFrame(
        [(row[0], row[-4], float(row[-2])) for row in rows],
        schema={"topic": pl.String, "item": pl.String, "score": pl.Float64},
        orient="row",
    )


def judged_answers() -> list[str]:
    """Return the ids of the answers in the sample that are judged."""
    text = (SHARED_DATA / "collection/judged-with-body.task1.tsv").read_text(encoding="utf-8")
    return [line.split()[2] for line in text.splitlines()]


def bag(edition: int, formulas: pl.DataFrame) -> pl.DataFrame:
    """Return the ranking of the sample's formulas by a bag of symbols."""
    from lxml import etree

    root = etree.parse(SHARED_DATA / f"arqmath-{edition}/topics.task2.xml").getroot()
    ids = {topic.findtext("Formula_Id"): topic.get("number") for topic in root}
    path = SHARED_DATA / f"arqmath-{edition}/topic-formulas.slt.tsv.gz"
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(lines, delimiter="\t"))
    queries = {ids[row[0]]: symbols(row[-1]) for row in rows if row[0] in ids}
    return bag_of_symbols(
        queries, ((item, symbols(mathml)) for item, _, mathml in formulas.iter_rows())
    )


def symbols(mathml: str) -> Iterable[str]:
    """Return the symbols of a formula."""
    return layout_symbols(layout_string(mathml) or "")


def distinct(frame: pl.DataFrame, visual: pl.DataFrame) -> pl.DataFrame:
    """Return a ranking of formulas as one of visual ids, each with its best score."""
    joined = frame.join(visual, on="item").group_by("topic", item="visual_id")
    return joined.agg(pl.col("score").max())


def markdown(results: pl.DataFrame, against: str) -> str:
    """Return a results table as Markdown: a row for each system."""
    lines = [f"| system | nDCG′ | MAP′ | P′@10 | nDCG′ less {against} | judged pairs |"]
    lines.append("| --- | --- | --- | --- | --- | ---: |")
    for system, rows in results.group_by("system", maintain_order=True):
        cells = [
            f"{row['mean']:.3f} [{row['low']:.3f}, {row['high']:.3f}]"
            for row in rows.iter_rows(named=True)
        ]
        first = rows.row(0, named=True)
        change = (
            ""
            if first["difference"] is None
            else (
                f"{first['difference']:+.3f} [{first['difference_low']:+.3f}, "
                f"{first['difference_high']:+.3f}]"
            )
        )
        lines.append(f"| {system[0]} | {' | '.join(cells)} | {change} | {first['judged']:,} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main(arguments())
