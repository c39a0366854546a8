"""Claim: posts are found by words, and formulas by their appearance, within a second, also
among 100,000 posts and a million distinct formulas.

The sample of ../shared/data is loaded into SQLite, as embedded, and searched. Then its posts and
formulas are multiplied, with other words and symbols so that they differ, indexed and searched
again. The slowest question counts. The goal is absolute.
"""

import gzip
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.common import (
    Benchmark,
    environment,
    in_process,
    seconds,
    set_up_django,
    shared_data,
    start,
)

MOST_MILLISECONDS = 1000

QUESTIONS = (
    "harmonic series",
    '"cauchy sequence"',
    "L'Hôpital",
    "function",
    "prove that the group is abelian",
    "integral -series",
)
QUESTIONS += ("tag:calculus kind:answer limit", "kind:question", "function OR integral")
FORMULAS = (
    r"e^{i\pi}+1=0",
    "x",
    r"\sum_{n=1}^\infty\frac{1}{n^2}",
    "a^2+b^2=c^2",
    r"\int_0^\infty e^{-x^2}\,dx=\frac{\sqrt{\pi}}{2}",
)


def main(bench: Benchmark) -> None:
    """Measure the sample, then the multiplied sample."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sample = shared_data("collection")
        if bench.is_smallest:
            sample = write_part(sample, folder / "part")
        sizes = {"posts": bench.sized(100_000, 100), "forms": bench.sized(1_000_000, 500)}
        variables = environment(folder / "data")
        found = in_process(search, variables, folder=str(sample), rounds=bench.rounds, **sizes)
    for size, kinds in found.items():
        for kind, times in kinds.items():
            worst = max(times, key=times.__getitem__)
            middle = statistics.median(times.values())
            print(f"{size}, {kind}: median {middle:.1f} ms, slowest question {worst!r}")
            bench.limit(f"{size}, {kind}", times[worst], MOST_MILLISECONDS, "ms")


def write_part(sample: Path, folder: Path) -> Path:
    """Write the beginning of the sample's files into a folder and return it."""
    folder.mkdir()
    for name in ("Posts.xml", "formulas.latex.tsv", "formulas.slt.tsv"):
        with gzip.open(sample / f"{name}.gz", "rt", encoding="utf-8") as file:
            lines = list(islice(file, 60))
        lines += ["</posts>\n"] * (name == "Posts.xml")
        with gzip.open(folder / f"{name}.gz", "wt", encoding="utf-8") as file:
            file.writelines(lines)
    return folder


def search(folder: str, rounds: int, posts: int, forms: int) -> dict[str, Any]:
    """Return the milliseconds of each question, by kind, in the sample and when multiplied."""
    set_up_django()
    collection = load(Path(folder))
    found = {"sample": ask(collection, rounds)}
    multiply(collection, posts=posts, forms=forms)
    return found | {"multiplied sample": ask(collection, rounds)}


def load(folder: Path) -> Any:
    """Load the sample without its search indexes, and index it."""
    from django.utils import timezone

    from arqkit.formats.labs.folder import CollectionFile
    from arqlab.core.models import Lab
    from collection.models import PostWords
    from collection.services.loading import load_collection

    latex, slt = folder / "formulas.latex.tsv.gz", folder / "formulas.slt.tsv.gz"
    lab = Lab.objects.create(slug="lab", name="A lab", protocol="arqmath-2")
    file = CollectionFile(
        slug="sample",
        complete=False,
        files={"posts": folder / "Posts.xml.gz"},
        formulas={"latex": latex, "slt": slt},
    )
    collection = load_collection(lab=lab, file=file, at=timezone.now())
    PostWords.objects.all().delete()
    index(collection)
    return collection


def index(collection: Any) -> None:
    """Index the posts and forms that are not indexed, and print the seconds."""
    from collection.models import Post
    from collection.selectors.visual_maps import newest_map
    from collection.services.indexing import index_formulas, index_posts

    start = time.perf_counter()
    done = index_posts(collection=collection)
    words = time.perf_counter() - start
    version = index_formulas(version=newest_map(collection))
    pairs = time.perf_counter() - start - words
    size = version.pairs.size / 2**20
    forms = pl.scan_parquet(version.forms.path).select(pl.len()).collect().item()
    print(
        f"indexed {done:,} of {Post.objects.count():,} posts in {words:.1f} s;"
        f" {forms:,} forms in {pairs:.1f} s ({size:.0f} MiB)",
        file=sys.stderr,
    )


def multiply(collection: Any, *, posts: int, forms: int) -> None:
    """Add copies of the posts with other rare words, and copies of the forms with other symbols."""
    from collection.models import Post, VisualMap
    from collection.selectors.visual_maps import map_frame, newest_map
    from collection.services.parquet_files import store_frame

    own = list(Post.objects.order_by("pk"))
    for copy in range(1, -(-posts // len(own))):
        Post.objects.bulk_create((copied(post, copy) for post in own), batch_size=1000)
    newest = newest_map(collection)
    frame, ids = map_frame(newest, "forms"), pl.col("visual_id")
    parts = [frame]
    for copy in range(1, -(-forms // frame.height)):
        symbols = pl.col("layout").str.replace_all(r"V!([a-h])\b", f"V!${{1}}{copy % 7}")
        other = symbols.str.replace_all(r"N!(\d)", f"N!{copy}$1")
        parts.append(frame.with_columns(visual_id=ids + f"-{copy}", layout=other))
    every = pl.concat(parts).head(forms)
    names = {
        "mapping": newest.mapping.name,
        "forms": store_frame(slug="sample", what="many", frame=every),
    }
    VisualMap.objects.create(
        collection=collection, version=newest.version + 1, made_at=newest.made_at, **names
    )
    index(collection)


def copied(post: Any, copy: int) -> Any:
    """Return a post with a new id; in every other copy, words of nine or more letters differ."""
    post.pk, post.post_id, post.thread_id = (
        None,
        f"{post.post_id.split('-')[0]}-{copy}",
        f"{post.thread_id.split('-')[0]}-{copy}",
    )
    if copy % 2:
        post.clean_body = re.sub(r"\b([a-z]{4})[a-z]{5,}\b", rf"\g<1>{copy}", post.safe_body)
    return post


def ask(collection: Any, rounds: int) -> dict[str, dict[str, float]]:
    """Return the median milliseconds of each question, by kind."""
    from arqkit.formulas.layout import layout_string
    from arqkit.texts.maths.typesetting import presentation_mathml
    from arqkit.texts.posts.queries import parse_query
    from collection.selectors.formulas import formulas_like
    from collection.selectors.search import search_posts
    from collection.selectors.visual_maps import newest_map
    from collection.services.lookup import look_up

    version = newest_map(collection)
    layouts = {latex: layout_string(presentation_mathml(latex) or "") for latex in FORMULAS}
    kinds: dict[str, tuple[Callable[[str], object], Iterable[str]]] = {
        "posts by words, index only": (
            lambda one: search_posts(collection, parse_query(one)),
            QUESTIONS,
        ),
        "similar forms": (
            lambda one: formulas_like(version, latex=one, layout=layouts[one]),
            FORMULAS,
        ),
        "whole page, words": (
            lambda one: look_up(collection=collection, query=parse_query(one)),
            QUESTIONS,
        ),
        "whole page, formula": (
            lambda one: look_up(collection=collection, query=parse_query(f"${one}$")),
            FORMULAS,
        ),
    }
    return {
        kind: {one: timed(partial(work, one), rounds) for one in questions}
        for kind, (work, questions) in kinds.items()
    }


def timed(work: Callable[[], object], rounds: int) -> float:
    """Return the median milliseconds of some rounds."""
    return 1000 * statistics.median(seconds(work) for _ in range(rounds))


if __name__ == "__main__":
    start(main, rounds=5, sides=(search,))
