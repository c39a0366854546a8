"""Print the tables of docs/systems.md on equation embeddings.

`python -m benchmarks.labs.equations FOLDER`: the networks are trained on the sample (two hours on
one core) and kept in FOLDER; those that are there already are only measured, on threads that none
of them was trained with.
"""

import csv
import gzip
import json
import re
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from arqkit.comparison.differences import bootstrap_intervals
from arqkit.formats.dumps.blocks import rows
from arqkit.formats.dumps.records import read_post
from arqkit.retrieval.equations import (
    HELD_OUT,
    HELD_OUT_TRIPLETS,
    EquationModel,
    train,
    training_data,
)
from arqkit.retrieval.graphs import NOTHING, Graphs, ParsedFormula, parse_formula
from arqkit.retrieval.triplets import Contexts, TrainingSettings, right_order
from arqkit.retrieval.vectors import Vectors
from arqkit.texts.posts.text import plain_title
from tests.paths import SHARED_DATA

FULL, SMALL = TrainingSettings(), TrainingSettings(triplets=25_000)
NETWORKS = {
    "Full": FULL,
    "Full, 25,000 triplets": SMALL,
    "Triplet loss instead of histogram loss, 25,000": replace(SMALL, loss="triplet"),
    "No masking, 25,000": replace(SMALL, masks=False),
    "No exchange of identifiers, 25,000": replace(SMALL, exchanges=False),
}
BAG = "Bag of symbols"
QUERIES = 200  # formulas of threads that are held out, of at least so many nodes:
LEAST = 8
LISTED = 1_000
FUZZY = 10  # longer keywords may have one other letter (002 §6.3)


def main() -> None:
    """Train what is missing, and print the tables."""
    kept = Path(sys.argv[1])
    formulas = formulas_of_sample()
    models = {name: trained(kept / slug(name), formulas, own) for name, own in NETWORKS.items()}
    parsed = [parse_formula(text) for text in formulas["latex"].unique().sort()]
    print(results(formulas, parsed, models))
    print(course(kept / slug("Full")))


def slug(name: str) -> str:
    """Return the name of a network's folder."""
    return re.sub(r"\W+", "-", name.lower())


def formulas_of_sample() -> pl.DataFrame:
    """Return the formulas of the sample: formula_id, latex, post_id and thread_id."""
    path = SHARED_DATA / "collection/formulas.latex.tsv.gz"
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        read = [(row[0], row[-1], row[1], row[2]) for row in csv.reader(lines, delimiter="\t")]
    return pl.DataFrame(
        read[1:], schema=["formula_id", "latex", "post_id", "thread_id"], orient="row"
    )


def trained(folder: Path, formulas: pl.DataFrame, settings: TrainingSettings) -> EquationModel:
    """Return the network in a folder, trained if it is not there."""
    if (folder / "network.pt").exists():
        return EquationModel.open(folder)
    folder.mkdir(parents=True, exist_ok=True)

    def report(done: int, total: int) -> None:
        print(f"\r{folder.name}: {done:,} of {total:,}", end="", file=sys.stderr)

    return train(training_data(formulas, [], settings), settings, folder, report)


class HeldOut:
    """What is measured: triplets, and queries with the relevant formulas of the whole sample."""

    def __init__(self, formulas: pl.DataFrame, sizes: NDArray[np.int64]) -> None:
        """Draw the triplets and the queries from threads that were held out."""
        self.contexts = Contexts(formulas)
        _, held = self.contexts.split(HELD_OUT, seed=FULL.seed)
        self.triplets = self.contexts.triplets(HELD_OUT_TRIPLETS, among=held, seed=FULL.seed)
        inside = np.isin(self.contexts.threads, held) & (sizes[self.contexts.looks] >= LEAST)
        self.queries = np.random.default_rng(0).choice(
            np.flatnonzero(inside), QUERIES, replace=False
        )
        self.posts, self.threads = formulas["post_id"].to_numpy(), formulas["thread_id"].to_numpy()
        self.tags, self.texts = tags_and_texts()

    def relevant(self, query: int) -> NDArray[np.bool_]:
        """Return for each formula whether a tag of the query's thread is in the text around it."""
        tags = self.tags.get(self.threads[query], ())
        posts = set[str]().union(*(self.posts_with(tag.replace("-", " ")) for tag in tags))
        return np.isin(self.posts, list(posts))

    def posts_with(self, keyword: str) -> set[str]:
        """Return the posts whose text has a keyword."""
        return {post for post, text in self.texts.items() if has_keyword(text, keyword)}


def tags_and_texts() -> tuple[dict[str, list[str]], dict[str, str]]:
    """Return the tags of each thread, and the text of each post with its question's title."""
    path = SHARED_DATA / "collection/Posts.xml.gz"
    posts = [post for row in rows(path, "posts") if (post := read_post(row, "Posts.xml").record)]
    titles = {post.post_id: post.title for post in posts}
    texts = {
        post.post_id: plain_title(f"{titles.get(post.thread_id, '')} {post.body}").lower()
        for post in posts
    }
    return {post.post_id: list(post.tags) for post in posts}, texts


def has_keyword(text: str, keyword: str) -> bool:
    """Return whether a text has a keyword or, if it is long, one at a Levenshtein distance of 1."""
    if keyword in text or len(keyword) <= FUZZY:
        return keyword in text
    half = len(keyword) // 2  # one of the halves is whole
    starts = [match.start() for match in re.finditer(re.escape(keyword[:half]), text)]
    starts += [match.start() - half for match in re.finditer(re.escape(keyword[half:]), text)]
    return any(
        near(keyword).search(text, max(0, start - 1), start + len(keyword) + 1) for start in starts
    )


@cache
def near(keyword: str) -> re.Pattern[str]:
    """Return what matches texts at a Levenshtein distance of 1 from a keyword."""
    parts = [
        (re.escape(keyword[:place]), re.escape(keyword[place + 1 :]), re.escape(keyword[place:]))
        for place in range(len(keyword))
    ]
    # Another letter or one less, and one more.
    return re.compile("|".join(f"{a}.?{b}|{a}.{c}" for a, b, c in parts))


def results(
    formulas: pl.DataFrame, parsed: list[ParsedFormula], models: dict[str, EquationModel]
) -> str:
    """Return the table of all networks and the bag of symbols, in Markdown."""
    sizes = np.array([len(formula.nodes) for formula in parsed])
    held = HeldOut(formulas, sizes)
    relevant = [held.relevant(int(query)) for query in held.queries]
    names = ["ranking score", "1-NN", "P@10", "P@100", "P@1000", "uMAP"]
    systems = {
        BAG: unit(symbol_counts(next(iter(models.values())).vocabulary.graphs(parsed))),
        **{name: m.embed(m.vocabulary.graphs(parsed)) for name, m in models.items()},
    }
    values = {
        name: [
            by_thread(held, right_order(vectors[held.contexts.looks], held.triplets)),
            *measures(held, unit(vectors), relevant),
        ]
        for name, vectors in systems.items()
    }
    lines = [f"| system | {' | '.join(names)} |", "| --- " * (len(names) + 1) + "|"]
    for name, own in values.items():
        lines.append(" | ".join([f"| {name}", *map(cell, own)]) + " |")
        if name != BAG:
            less = (cell(x - y, "+.3f") for x, y in zip(own, values[BAG], strict=True))
            lines.append(" | ".join(["| … less bag", *less]) + " |")
    return "\n".join(lines)


def by_thread(held: HeldOut, right: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the share of right triplets for each thread of anchors."""
    threads = held.contexts.threads[held.triplets[:, 0]]
    frame = (
        pl.DataFrame({"thread": threads, "right": right}).group_by("thread").agg(pl.mean("right"))
    )
    return frame.sort("thread")["right"].to_numpy()


def measures(
    held: HeldOut, vectors: Vectors, relevant: list[NDArray[np.bool_]]
) -> list[NDArray[np.float64]]:
    """Return 1-NN accuracy, P@10, P@100, P@1000 and uMAP of each query, by cosine.

    Formulas of the query's thread are not searched for keywords. The nearest formula that looks
    different, of the whole sample, should be of its thread.
    """
    values, looks = [], held.contexts.looks
    for query, is_relevant in zip(held.queries, relevant, strict=True):
        cosines = vectors @ vectors[looks[query]]
        order = np.argsort(-cosines[looks], kind="stable")
        other = order[looks[order] != looks[query]]
        is_near = held.threads[other[0]] == held.threads[query]
        listed = order[held.threads[order] != held.threads[query]][:LISTED]
        hits = is_relevant[listed]
        precision = hits.cumsum() / np.arange(1, LISTED + 1)
        values.append([is_near, *precision[[9, 99, 999]], precision[hits].sum()])
    return list(np.array(values, float).T)


def symbol_counts(graphs: Graphs) -> Vectors:
    """Return the sum of the features of all nodes of each graph: a bag of symbols (002 §6.3)."""
    bags = np.zeros((len(graphs), NOTHING + 1), np.float32)
    for column in graphs.columns.T:
        np.add.at(bags, (graphs.owners(), column), 1)
    return bags[:, :NOTHING]


def unit(vectors: Vectors) -> Vectors:
    """Return vectors with length 1."""
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


def cell(values: NDArray[np.float64], form: str = ".3f") -> str:
    """Return a mean with its 95% bootstrap interval."""
    [[low, high]] = bootstrap_intervals(values[None, :])
    return f"{values.mean():{form}} [{low:{form}}, {high:{form}}]"


def course(folder: Path) -> str:
    """Return the losses of each epoch, and the ranking score after it, as a table."""
    epochs = json.loads((folder / "history.json").read_text(encoding="utf-8"))["epochs"]
    lines = [
        "",
        "| epoch | histogram loss | masking loss | ranking score |",
        "| ---: | ---: | ---: | ---: |",
    ]
    for number, epoch in enumerate(epochs, start=1):
        lines.append(
            f"| {number} | " + " | ".join(f"{value:.3f}" for value in epoch.values()) + " |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
