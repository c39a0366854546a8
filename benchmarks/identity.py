"""The claims: identity of 3 million formula instances in under 60 s and 2 GB, and agreement with
the official ids.

Agreement: our ids for the sample's instances, their given ids hidden, against those ids (threads
with an even id are given one), as pairs of instances. Some pairs nobody can get right: instances
with the same SLT and LaTeX, byte for byte, under two official ids; the figures are printed with and
without them. The same from LaTeX alone, by Temml.

Time and memory: instances made by drawing from the real ones, which keeps their lengths and how
often they repeat; a number of every tenth drawn formula is changed so that new ones keep coming; a
tenth has a given id, a tenth has no layout string, and there is a previous map in which a hundredth
differs. Each size runs in a process of its own; memory is the peak of that process with its
instances in it.

    .venv/bin/python benchmarks/identity.py [millions ...]
"""

import gzip
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).parents[1]))

from arqlab.ir.formulas.identity import visual_map
from arqlab.ir.formulas.layout import layout_strings
from tests.agreement import Agreement, agreement

DATA = Path(__file__).parents[2] / "shared" / "data"
SIZES = (0.5, 1.0, 3.0, 6.0, 12.0)
CLAIMED, WANTED_SECONDS, WANTED_MEGABYTES = 3.0, 60.0, 2000.0
WANTED_PRECISION, WANTED_RECALL = 0.98, 0.985
WHOLE = 28.32  # millions of instances of the whole collection


def main(arguments: list[str]) -> int:
    """Print agreement, then time and memory by size; 0 when the claims hold."""
    if not DATA.is_dir():
        print(f"The labs' public data is not at {DATA}; put it there.")
        return 1
    if arguments[:1] == ["one"]:
        print(json.dumps(measure(float(arguments[1]))))
        return 0
    agrees = print_agreement()
    fast = print_growth([float(argument) for argument in arguments] or list(SIZES))
    return 0 if agrees and fast else 1


# --- agreement


def print_agreement() -> bool:
    """Compare our ids with the official ones; say whether precision and recall are as wanted."""
    rows = sample()
    known = rows.drop_nulls("official")
    raw = agreement(
        known.select(ours=pl.concat_str("slt", pl.lit("\n"), "latex"), theirs="official")
    )
    found = compared(rows)
    print(f"official ids: {known.height} instances of the sample have one")
    print(f"  the same SLT and LaTeX, byte for byte: {shown(raw)}")
    print(f"  ours from SLT: {shown(found)}")
    tellable = Agreement(found.together, found.only_ours - raw.only_ours, found.only_theirs)
    print(
        f"  ours from SLT, without the {raw.only_ours} pairs that are the same byte for byte: {shown(tellable)} "
        f"(wanted {WANTED_PRECISION}, {WANTED_RECALL})"
    )
    print(
        f"  LaTeX without white space: {shown(compared(rows.with_columns(layout=pl.lit(None, pl.String))))}"
    )
    print(f"  ours from LaTeX alone: {shown(compared(from_latex(rows)))}")
    print(
        f"  ours from LaTeX alone, the authors' own LaTeX of the second index: {shown(compared(authors()))}"
    )
    return tellable.precision >= WANTED_PRECISION and tellable.recall >= WANTED_RECALL


def compared(rows: pl.DataFrame) -> Agreement:
    """Return ids to all rows as if none were given, and compare those that have an official one."""
    ours = visual_map(rows.with_columns(given=pl.lit(None, pl.String))).mapping
    return agreement(
        ours.join(rows, on="formula_id")
        .drop_nulls("official")
        .select(ours="visual_id", theirs="official")
    )


def shown(found: Agreement) -> str:
    """Return precision and recall as a line."""
    return (
        f"precision {found.precision:.4f}, recall {found.recall:.4f} "
        f"({found.together} pairs together, {found.only_ours} only ours, {found.only_theirs} only official)"
    )


def sample() -> pl.DataFrame:
    """Read the sample's index: formula_id, latex, slt, layout, official."""
    latex, slt = (index(f"collection/formulas.{form}.tsv.gz") for form in ("latex", "slt"))
    rows = latex.select(formula_id="id", latex="formula", official="visual_id")
    rows = rows.join(slt.select(formula_id="id", slt="formula"), on="formula_id")
    return rows.with_columns(layout=pl.Series(layout_strings(rows["slt"]), dtype=pl.String))


def authors() -> pl.DataFrame:
    """Read the thousand rows of the second edition's own index, which has LaTeX as it was written."""
    rows = index("visual-identity/official-index-v2-sample.tsv")
    return from_latex(rows.select(formula_id="id", latex="formula", official="visual_id"))


def index(name: str) -> pl.DataFrame:
    """Read an index file of the labs."""
    packed = (DATA / name).read_bytes()
    text = gzip.decompress(packed) if name.endswith(".gz") else packed
    return pl.read_csv(text, separator="\t", infer_schema=False)


def from_latex(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows the layout strings of what Temml makes of their LaTeX."""
    from arqlab.texts.maths.typesetting import presentation_mathml

    distinct = rows.select("latex").unique().drop_nulls()
    made = layout_strings(presentation_mathml(latex) for latex in distinct["latex"])
    distinct = distinct.with_columns(layout=pl.Series(made, dtype=pl.String))
    return rows.drop("layout", strict=False).join(distinct, on="latex", how="left")


# --- time and memory


def print_growth(sizes: list[float]) -> bool:
    """Measure each size in a fresh process; print the table and what it says of the whole
    collection.
    """
    print("millions  forms     seconds  GB     seconds a million")
    found = []
    for millions in sizes:
        command = [sys.executable, __file__, "one", str(millions)]
        result = json.loads(
            subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        )
        found.append(result)
        print(
            f"{millions:8.1f}  {result['forms']:8d}  {result['seconds']:7.1f}  {result['megabytes'] / 1000:5.2f}  "
            f"{result['seconds'] / millions:.2f}"
        )
    millions, seconds, megabytes = (
        np.array([each[key] for each in found]) for key in ("millions", "seconds", "megabytes")
    )
    if len(found) > 1 and max(millions) < WHOLE:
        power, factor = np.polyfit(np.log(millions), np.log(seconds), 1)
        slope, start = np.polyfit(millions, megabytes, 1)
        print(
            f"extrapolated to {WHOLE} millions: {np.exp(factor) * WHOLE**power:.0f} s (grows with the power {power:.2f}), "
            f"{(start + slope * WHOLE) / 1000:.1f} GB"
        )
    claimed = [each for each in found if each["millions"] == CLAIMED]
    return all(
        each["seconds"] < WANTED_SECONDS and each["megabytes"] < WANTED_MEGABYTES
        for each in claimed
    )


def measure(millions: float) -> dict[str, float]:
    """Return ids to made instances; the time is that of `visual_map` alone."""
    instances, previous, relevance = made(round(millions * 1e6))
    start = time.perf_counter()
    result = visual_map(instances, previous=previous, relevance=relevance)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    return {
        "millions": millions,
        "seconds": seconds,
        "megabytes": peak,
        "forms": result.forms.height,
    }


def made(count: int) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Draw instances from the sample: instances, previous map, relevance."""
    real = sample().select("latex", "layout", given=pl.concat_str(pl.lit("9"), "official"))
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
    """Return each instance the place of its layout string, or of its LaTeX, as an earlier id."""
    key = pl.coalesce("layout", "latex")
    return instances.select("formula_id", visual_id=key.rank("dense").cast(pl.String))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
