"""Claim: posts are found by words, and formulas by their look, well within a second, also where
there are a hundred thousand and a million.

    python benchmarks/look_up.py [--collection ../shared/data/collection] [--posts 100000] [--forms
    1000000]

Loads the sample into a database of its own (SQLite, or an empty one that `DATABASE_URL` names),
asks, multiplies the posts and formulas (other words and symbols among them, so that they are not
the same), indexes, and asks again. Prints the time to index, and the median and worst latency of
each kind of question in milliseconds.
"""

import argparse
import os
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import polars as pl

sys.path.insert(0, str(Path(__file__).parent.parent))
os.environ["DJANGO_SETTINGS_MODULE"] = "arqlab.settings"
os.environ["ARQLAB_DATA"] = tempfile.mkdtemp(prefix="arqlab-look-up-")
os.environ.setdefault("ARQLAB_SECRET_KEY", "only for a benchmark")

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
ROUNDS = 5


def main() -> None:
    """Print a table for the sample and one for the multiplied sample."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--collection", type=Path, default=Path("../shared/data/collection"))
    parser.add_argument("--posts", type=int, default=100_000)
    parser.add_argument("--forms", type=int, default=1_000_000)
    options = parser.parse_args()
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    collection = load(options.collection)
    ask(collection, "the sample")
    multiply(collection, posts=options.posts, forms=options.forms)
    ask(collection, "the sample, multiplied")


def load(folder: Path) -> object:
    """Load the sample without its indexes, and index it."""
    from django.utils import timezone

    from arqlab.core.models import Lab
    from arqlab.formats.labs.folder import CollectionFile
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


def index(collection: object) -> None:
    """Index what is not indexed, and print how long it takes."""
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
        f"indexed {done:,} of {Post.objects.count():,} posts in {words:.1f} s; {forms:,} forms in {pairs:.1f} s ({size:.0f} MiB)"
    )


def multiply(collection: object, *, posts: int, forms: int) -> None:
    """Add copies of the posts with other names for the rarer words, and copies of the forms with
    other symbols.
    """
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


def copied(post: object, copy: int) -> object:
    """Return a post again, under another id, its words of more than eight letters changed in every
    other copy.
    """
    post.pk, post.post_id, post.thread_id = (
        None,
        f"{post.post_id.split('-')[0]}-{copy}",
        f"{post.thread_id.split('-')[0]}-{copy}",
    )
    if copy % 2:
        post.clean_body = re.sub(r"\b([a-z]{4})[a-z]{5,}\b", rf"\g<1>{copy}", post.safe_body)
    return post


def ask(collection: object, name: str) -> None:
    """Print the latencies of all questions."""
    from arqlab.ir.formulas.layout import layout_string
    from arqlab.texts.maths.typesetting import presentation_mathml
    from arqlab.texts.posts.queries import parse_query
    from collection.selectors.formulas import formulas_like
    from collection.selectors.search import search_posts
    from collection.selectors.visual_maps import newest_map
    from collection.services.lookup import look_up

    version = newest_map(collection)
    layouts = {latex: layout_string(presentation_mathml(latex) or "") for latex in FORMULAS}
    kinds: dict[str, tuple[Callable[[str], object], Iterable[str]]] = {
        "posts by words (index only)": (
            lambda one: search_posts(collection, parse_query(one)),
            QUESTIONS,
        ),
        "forms that look alike": (
            lambda one: formulas_like(version, latex=one, layout=layouts[one]),
            FORMULAS,
        ),
        "the whole page, words": (
            lambda one: look_up(collection=collection, query=parse_query(one)),
            QUESTIONS,
        ),
        "the whole page, a formula": (
            lambda one: look_up(collection=collection, query=parse_query(f"${one}$")),
            FORMULAS,
        ),
    }
    print(f"\n{name}")
    for kind, (work, questions) in kinds.items():
        show(kind, {one: timed(work, one) for one in questions})


def timed(work: Callable[[str], object], question: str) -> float:
    """Return the median time of some rounds, in milliseconds."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work(question)
        times.append(1000 * (time.perf_counter() - start))
    return statistics.median(times)


def show(name: str, times: dict[str, float]) -> None:
    """Print the median and the worst of the questions."""
    worst = max(times, key=lambda question: times[question])
    print(
        f"  {name:28} median {statistics.median(times.values()):7.1f} ms   worst {times[worst]:7.1f} ms  ({worst})"
    )


if __name__ == "__main__":
    main()
