"""Claim: visual identity of 3 million formula instances is computed in under 60 s and 2 GB, and
agrees with the official ids.

Agreement: our ids of the sample's instances, with given ids hidden, are compared with the official
ids as pairs of instances (threads with an even id have official ids). Some pairs cannot be told
apart: instances with the same SLT and LaTeX, byte for byte, under two official ids. Figures are
printed with and without them, and for ids made from LaTeX alone, by Temml.

Time and memory: instances are drawn from the real ones, which keeps their lengths and how often
they repeat. A number changes in every tenth drawn formula, so that new formulas keep coming; a
tenth has a given id, a tenth has no layout string, and a hundredth of the previous map differs.
Each size runs in a process of its own; memory is the peak of that process, instances included.

All goals are absolute: no other program computes these ids.
"""

import gzip
from functools import partial

import numpy as np
import polars as pl

from arqkit.formulas.layout import layout_strings
from arqkit.formulas.visual_ids import visual_map
from benchmarks.common import (
    Benchmark,
    in_process,
    median_of,
    peak_megabytes,
    seconds,
    shared_data,
    start,
)
from tests.agreement import Agreement, agreement

SIZES = (0.5, 1.0, 3.0)  # millions; the claim is about the largest
SMALLEST = (0.01,)
MOST_SECONDS, MOST_MEGABYTES = 60.0, 2000.0
LEAST_PRECISION, LEAST_RECALL = 0.98, 0.985
WHOLE = 28.32  # millions of instances in the whole collection


def main(bench: Benchmark) -> None:
    """Measure agreement, then time and memory by size."""
    measure_agreement(bench)
    measure_growth(bench)


# --- agreement


def measure_agreement(bench: Benchmark) -> None:
    """Compare our ids with the official ones."""
    rows = sample(bench.sized(None, 2_000))
    known = rows.drop_nulls("official")
    raw = agreement(
        known.select(ours=pl.concat_str("slt", pl.lit("\n"), "latex"), theirs="official")
    )
    found = compared(rows)
    possible = Agreement(found.together, found.only_ours - raw.only_ours, found.only_theirs)
    only_latex = rows.with_columns(layout=pl.lit(None, pl.String))
    print(f"{known.height} instances of the sample have official ids")
    for name, shown in (
        ("same SLT and LaTeX, byte for byte", raw),
        ("ours from SLT", found),
        (f"ours from SLT, without the {raw.only_ours} pairs that are the same", possible),
        ("LaTeX without white space", compared(only_latex)),
        ("ours from LaTeX alone", compared(from_latex(rows))),
        ("ours from LaTeX alone, LaTeX of the second index", compared(authors())),
    ):
        print(
            f"  {name}: precision {shown.precision:.4f}, recall {shown.recall:.4f}"
            f" ({shown.together} pairs together, {shown.only_ours} only ours,"
            f" {shown.only_theirs} only official)"
        )
    bench.ratio("identity, precision", possible.precision, at_least=LEAST_PRECISION)
    bench.ratio("identity, recall", possible.recall, at_least=LEAST_RECALL)


def compared(rows: pl.DataFrame) -> Agreement:
    """Compute the ids of all rows without given ids, and compare them with the official ones."""
    ours = visual_map(rows.with_columns(given=pl.lit(None, pl.String))).mapping
    return agreement(
        ours.join(rows, on="formula_id")
        .drop_nulls("official")
        .select(ours="visual_id", theirs="official")
    )


def sample(count: int | None = None) -> pl.DataFrame:
    """Read the sample's index, or the first rows: formula_id, latex, official, slt, layout."""
    latex, slt = (index(f"collection/formulas.{form}.tsv.gz") for form in ("latex", "slt"))
    rows = latex.select(formula_id="id", latex="formula", official="visual_id")
    rows = rows.head(count or rows.height).join(
        slt.select(formula_id="id", slt="formula"), on="formula_id"
    )
    return rows.with_columns(layout=pl.Series(layout_strings(rows["slt"]), dtype=pl.String))


def authors() -> pl.DataFrame:
    """Read a thousand rows of the second edition's index, which has the authors' LaTeX."""
    rows = index("visual-identity/official-index-v2-sample.tsv")
    return from_latex(rows.select(formula_id="id", latex="formula", official="visual_id"))


def index(name: str) -> pl.DataFrame:
    """Read an index file of the labs."""
    packed = shared_data(name).read_bytes()
    text = gzip.decompress(packed) if name.endswith(".gz") else packed
    return pl.read_csv(text, separator="\t", infer_schema=False)


def from_latex(rows: pl.DataFrame) -> pl.DataFrame:
    """Add the layout strings that Temml makes from LaTeX."""
    from arqkit.texts.maths.typesetting import presentation_mathml

    distinct = rows.select("latex").unique().drop_nulls()
    made = layout_strings(presentation_mathml(latex) for latex in distinct["latex"])
    distinct = distinct.with_columns(layout=pl.Series(made, dtype=pl.String))
    return rows.drop("layout", strict=False).join(distinct, on="latex", how="left")


# --- time and memory


def measure_growth(bench: Benchmark) -> None:
    """Measure each size, and estimate time and memory for the whole collection."""
    found = {}
    for millions in bench.sized(SIZES, SMALLEST):
        side = partial(
            in_process, identify, count=round(millions * 1e6), rows=bench.sized(None, 2_000)
        )
        results = bench.alternate({"ours": side})["ours"]
        found[millions] = [median_of(results, name) for name in ("seconds", "megabytes")]
        took, megabytes = found[millions]
        print(f"{millions} million: {took:.1f} s, {megabytes / 1000:.2f} GB")
    bench.limit("identity, time", took, MOST_SECONDS, "s")
    bench.limit("identity, memory", megabytes, MOST_MEGABYTES, "MB")
    if len(found) > 1:
        sizes, (times, peaks) = np.array(list(found)), np.array(list(found.values())).T
        power, factor = np.polyfit(np.log(sizes), np.log(times), 1)
        slope, base = np.polyfit(sizes, peaks, 1)
        print(
            f"estimate for {WHOLE} million: {np.exp(factor) * WHOLE**power:.0f} s (power"
            f" {power:.2f}), {(base + slope * WHOLE) / 1000:.1f} GB"
        )


def identify(count: int, rows: int | None) -> dict[str, float]:
    """Compute the ids of drawn instances; the time is that of `visual_map` alone."""
    instances, previous, relevance = draw(count, sample(rows))
    took = seconds(lambda: visual_map(instances, previous=previous, relevance=relevance))
    return {"seconds": took, "megabytes": peak_megabytes()}


def draw(count: int, sample: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Draw instances from the sample; return them, the previous map and the relevance."""
    real = sample.select("latex", "layout", given=pl.concat_str(pl.lit("9"), "official"))
    random = np.random.default_rng(3)
    rows = real.select(pl.all().gather(random.integers(0, len(real), count)))
    luck = pl.Series(random.random(count))
    new = pl.Series(random.integers(0, max(1, count // 20), count)).cast(pl.String)
    instances = rows.select(
        formula_id=pl.int_range(1, count + 1).cast(pl.String),
        latex=pl.when(luck < 0.1).then(pl.concat_str("latex", pl.lit("+"), new)).otherwise("latex"),
        layout=pl.when(luck < 0.1)
        .then(pl.concat_str("layout", pl.lit(" n O!+ n N!"), new))
        .otherwise(pl.when(luck < 0.9).then("layout")),
        given=pl.when((luck > 0.1) & (luck < 0.2)).then("given"),
    )
    ids = pl.Series(random.integers(1, count, count)).cast(pl.String)
    moved = pl.Series(random.random(count)) < 0.01
    known = visual_ids_of(instances)
    previous = known.with_columns(visual_id=pl.when(moved).then(ids).otherwise("visual_id"))
    judged = pl.Series(random.integers(1, count, 20_000)).cast(pl.String)
    return (
        instances,
        previous,
        pl.DataFrame({"formula_id": judged, "label": random.integers(0, 4, 20_000)}),
    )


def visual_ids_of(instances: pl.DataFrame) -> pl.DataFrame:
    """Return the rank of each instance's layout string, or of its LaTeX, as its earlier id."""
    key = pl.coalesce("layout", "latex")
    return instances.select("formula_id", visual_id=key.rank("dense").cast(pl.String))


if __name__ == "__main__":
    start(main, rounds=1, sides=(identify,))
