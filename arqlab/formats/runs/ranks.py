"""What a run's ranks and scores have to keep to, and which of its rows count."""

from collections.abc import Iterator

import polars as pl

from arqlab.formats.runs.report import Finding, RunRules, occurrences
from arqlab.ir.ranking import AS_TREC_EVAL_READS_IT, with_order
from arqlab.ir.records import Severity

NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
DECIMAL_COMMA = r"^[+-]?[0-9]*,[0-9]+([eE][+-]?[0-9]+)?$"
LARGEST_32_BIT = 3.4028234663852886e38
TIES = {
    "score": "trec_eval orders equal scores by id, the last id in the order of bytes first, and ignores the ranks, and so do we",
    "rank": "this task orders by the submitted ranks; trec_eval would order equal scores by id, the last one first",
}
RANK_KINDS = ("rank-start", "rank-repeated", "rank-jump", "rank-against-score")


def with_numbers(rows: pl.DataFrame) -> pl.DataFrame:
    """Add rank (Int64) and score (Float64), null where the text is not one or the score cannot be
    ordered.

    The casts of polars take only plain decimal notation: no `1_000`, no blanks, no other digits
    than 0 to 9.
    """
    numbered = rows.with_columns(
        rank=pl.col("rank_text").cast(pl.Int64, strict=False),
        score=pl.col("score_text").cast(pl.Float64, strict=False),
    )
    # NaN is larger than every number to polars, so this leaves it out as well.
    return numbered.with_columns(
        score=pl.when(pl.col("score").abs() <= LARGEST_32_BIT).then("score")
    )


def check_scores(rows: pl.DataFrame) -> Iterator[Finding]:
    """Find scores that cannot be ordered: not a number, NaN, infinite, beyond 32-bit floats, with a
    decimal comma.
    """
    wrong = rows.filter(pl.col("score").is_null())
    if not wrong.height:
        return
    text, value = pl.col("score_text"), pl.col("score_text").cast(pl.Float64, strict=False)
    kinds = {
        "score-nan": value.is_nan(),
        "score-out-of-range": text.str.contains(NUMBER),
        "score-infinite": value.is_infinite(),
        "score-decimal-comma": text.str.contains(DECIMAL_COMMA),
    }
    kind = pl.lit("score-not-a-number")
    for name, condition in reversed(kinds.items()):
        kind = pl.when(condition).then(pl.lit(name)).otherwise(kind)
    for (name,), part in wrong.with_columns(kind=kind).group_by("kind"):
        places = occurrences(part, found="score_text", expected=pl.lit("a finite decimal number"))
        yield Finding(str(name), places)


def check_ranks(rows: pl.DataFrame, lost: pl.Series, rules: RunRules) -> Iterator[Finding]:
    """Find ranks that are no integers, do not start at 1, repeat, jump, or go down while the score
    goes up.

    `lost` are the lines that did not become rows: a rank that stood on one of them is not missed.
    """
    unreadable = rows.filter(pl.col("rank").is_null())
    by_score = rules.order == "score"
    if unreadable.height:
        places = occurrences(unreadable, found="rank_text", expected=pl.lit("a whole number"))
        yield Finding("rank-not-integer", places, {"order": "score"}, repairable=by_score)
    # Where ranks count, a rank that cannot be read leaves no order to number anew by.
    can_renumber = by_score or not unreadable.height
    faults = rank_faults(rows, lost)
    for kind in RANK_KINDS:
        part = faults.filter(kind)
        if not part.height:
            continue
        found = "score" if kind == "rank-against-score" else "rank"
        places = occurrences(part, found=found, expected=_expected(kind))
        severity = Severity.ERROR if kind == "rank-repeated" and not by_score else None
        counts = "the scores count" if by_score else "the ranks count"
        repairable = can_renumber and (by_score or kind != "rank-against-score")
        yield Finding(kind, places, {"counts": counts}, severity, repairable)


def rank_faults(rows: pl.DataFrame, lost: pl.Series) -> pl.DataFrame:
    """Return the rows whose rank is at fault: line, topic, rank, score, previous_rank,
    previous_score, a flag a kind.
    """
    unreadable = rows.filter(pl.col("rank").is_null())["line"]
    rows = rows.select("line", "topic", "rank", "score")
    ranked = _by_rank(rows.filter(pl.col("rank").is_not_null()) if unreadable.len() else rows)
    # A score that cannot be read is skipped; infinity keeps that of another topic from taking its
    # place.
    known = (
        pl.when(pl.col("is_first") & pl.col("score").is_null())
        .then(float("inf"))
        .otherwise("score")
    )
    ranked = ranked.with_columns(
        previous_rank=pl.when("is_first").then(0).otherwise(pl.col("rank").shift()),
        previous_score=known.forward_fill().shift(),
        missed=pl.lit(0),
    )
    if missed := _missed_before(pl.concat([unreadable, lost])):
        ranked = ranked.with_columns(missed=pl.col("line").replace_strict(missed, default=0))
    is_rise = pl.col("previous_score").cast(pl.Float32) < AS_TREC_EVAL_READS_IT
    step = pl.col("rank") - pl.col("previous_rank")
    is_gap = (step < 1) | (step > 1 + pl.col("missed"))
    flags = {
        "rank-start": pl.col("is_first") & is_gap,
        "rank-repeated": ~pl.col("is_first") & (step == 0),
        "rank-jump": ~pl.col("is_first") & (step > 0) & is_gap,
        "rank-against-score": ~pl.col("is_first") & (step > 0) & is_rise.fill_null(value=False),
    }
    return ranked.with_columns(**flags).filter(pl.any_horizontal(*flags))


def _by_rank(rows: pl.DataFrame) -> pl.DataFrame:
    """Put the rows of a topic together by rank, then line, and mark the first; most files are so
    already.
    """
    is_first = pl.col("topic").ne_missing(pl.col("topic").shift()).alias("is_first")
    marked = rows.with_columns(is_first)
    is_sorted = (pl.col("rank") >= pl.col("rank").shift()) | pl.col("is_first")
    topics = marked.filter("is_first")["topic"]
    if topics.is_unique().all() and marked.select(is_sorted.all()).item():
        return marked
    return rows.sort("topic", "rank", "line").with_columns(is_first)


def check_ties(ordered: pl.DataFrame, rules: RunRules) -> Iterator[Finding]:
    """Note equal scores: `ordered` has the rows in trec_eval's order (`ranking.with_order`).

    Scores that differ, but not as 32-bit floats, are a note of their own.
    """
    score = AS_TREC_EVAL_READS_IT
    if rules.order != "score":
        # By rank, equal scores need not be neighbours.
        ordered = ordered.select("line", "topic", "score", "score_text").sort(
            "topic", "score", nulls_last=True
        )
    is_same = ((pl.col("topic") == pl.col("topic").shift()) & (score == score.shift())).fill_null(
        value=False
    )
    is_tied = is_same | is_same.shift(-1, fill_value=False)
    ordered = ordered.select("line", "topic", "score", "score_text")
    tied = ordered.filter(is_tied)
    if not tied.height:
        return
    parts = {"score-tie": tied}
    if ordered.filter(is_same & (pl.col("score") != pl.col("score").shift())).height:
        values = pl.col("score").n_unique().over("topic", score)
        parts["score-tie-32-bit"] = tied.filter(values > 1)
        parts["score-tie"] = tied.filter(pl.struct("topic", "score").is_duplicated())
    for kind, part in parts.items():
        if part.height:
            places = occurrences(part, found="score_text", expected=pl.lit("a score of its own"))
            yield Finding(kind, places, {"ties": TIES[rules.order]})


def _missed_before(lines: pl.Series) -> dict[int, int]:
    """Return for each line that follows lines without a rank how many of them stand right before it."""
    before: dict[int, int] = {}
    for line in lines.sort().to_list():
        before[line + 1] = before.pop(line, 0) + 1
    return before


def _expected(kind: str) -> pl.Expr:
    """Return what a rank or score should have been."""
    return {
        "rank-start": pl.lit("1"),
        "rank-repeated": pl.lit("a rank of its own"),
        "rank-jump": pl.col("previous_rank") + 1,
        "rank-against-score": pl.format("at most {}", "previous_score"),
    }[kind]


def fits_limit(rows: pl.DataFrame, rules: RunRules) -> bool:
    """Report whether no topic has more rows than it may have items."""
    return bool((rows["topic"].value_counts()["count"] <= rules.limit).all())


def repeated_items(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows whose item stands more than once for its topic."""
    # Comparing hashes first takes half the time and a tenth of the memory of comparing the pairs of
    # all rows.
    pairs = rows["topic"].hash(seed=1) ^ rows["item"].hash()
    if pairs.n_unique() == rows.height:
        return rows.clear()
    alike = rows.filter(pairs.is_duplicated())
    return alike.filter(pl.struct("topic", "item").is_duplicated())


def kept_rows(rows: pl.DataFrame, rules: RunRules) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the rows that a repair keeps, each item once and no topic over the limit, and those
    beyond the limit.

    Of an item that stands several times the row with the highest score is kept (where ranks count,
    the best rank); equal ones by line. The limit cuts by the same order.
    """
    by_line = ["rank", "line"] if rules.order == "rank" else ["score", "rank", "line"]
    is_answers = "answer" in rows.columns
    if fits_limit(rows, rules) and (is_answers or not repeated_items(rows).height):
        return rows, rows.clear()
    descending = [name == "score" for name in by_line]
    best = rows.sort(by_line, descending=descending, nulls_last=True)
    if not is_answers:
        best = best.unique(["topic", "item"], keep="first", maintain_order=True)
    ordered = with_order(best, by=rules.order)
    is_within = pl.col("order") <= rules.limit
    return ordered.filter(is_within).drop("order").sort("line"), ordered.filter(~is_within).sort(
        "line"
    )
