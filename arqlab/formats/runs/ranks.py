"""The rules on the ranks and scores of a run, and on which of its rows count (protocol §4)."""

from collections.abc import Iterator

import polars as pl

from arqlab.formats.runs.report import Finding, RunRules, find_rows
from arqlab.ir.ranking import AS_TREC_EVAL_READS_IT, with_order
from arqlab.ir.records import Severity, TaskKind

NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
DECIMAL_COMMA = r"^[+-]?[0-9]*,[0-9]+([eE][+-]?[0-9]+)?$"
LARGEST_32_BIT = 3.4028234663852886e38
TIES = {
    "score": "trec_eval orders equal scores by id, the last id in byte order first, and ignores "
    "the ranks. So do we.",
    "rank": "This task orders items by the submitted ranks. trec_eval would order equal scores by "
    "id, the last id first.",
}
COUNTS = {"score": "This task orders items by score.", "rank": "This task orders items by rank."}
POOLED_BY_RANK = "This task scores items by score, and pools them by rank."
RANK_KINDS = ("rank-start", "rank-repeated", "rank-jump", "rank-against-score")


def with_numbers(rows: pl.DataFrame) -> pl.DataFrame:
    """Add rank (Int64) and score (Float64), null where the text is not a number in range.

    The casts of polars take only plain decimal notation: no `1_000`, no spaces, no digits other
    than 0 to 9.
    """
    numbered = rows.with_columns(
        rank=pl.col("rank_text").cast(pl.Int64, strict=False),
        score=pl.col("score_text").cast(pl.Float64, strict=False),
    )
    # To polars, NaN is larger than every number, so this excludes it too.
    return numbered.with_columns(
        score=pl.when(pl.col("score").abs() <= LARGEST_32_BIT).then("score")
    )


def check_scores(rows: pl.DataFrame) -> Iterator[Finding]:
    """Find scores that cannot be ordered.

    They are not numbers, NaN, infinite, beyond 32-bit floats, or have a decimal comma.
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
        yield from find_rows(str(name), part, "score_text", "a finite decimal number")


def check_ranks(rows: pl.DataFrame, lost: pl.Series, rules: RunRules) -> Iterator[Finding]:
    """Find ranks that are not integers, do not start at 1, repeat, jump, or contradict the scores.

    `lost` has the lines that are not rows: a rank that may be on one of them is not missing.
    """
    unreadable = rows.filter(pl.col("rank").is_null())
    by_score = not rules.ranks_count
    for finding in find_rows(
        "rank-not-integer", unreadable, "rank_text", "a whole number", order="score"
    ):
        yield finding._replace(repairable=by_score)
    # Where ranks count, an unreadable rank leaves no order to renumber by.
    can_renumber = by_score or not unreadable.height
    faults = rank_faults(rows, lost)
    is_mixed = rules.ranks_count and rules.order == "score"
    counts = POOLED_BY_RANK if is_mixed else COUNTS[rules.order]
    for kind in RANK_KINDS:
        found = "score" if kind == "rank-against-score" else "rank"
        part = faults.filter(kind)
        for finding in find_rows(kind, part, found, _expected(kind), counts=counts):
            yield finding._replace(
                severity=Severity.ERROR if kind == "rank-repeated" and not by_score else None,
                repairable=can_renumber and (by_score or kind != "rank-against-score"),
            )


def rank_faults(rows: pl.DataFrame, lost: pl.Series) -> pl.DataFrame:
    """Return the rows whose rank is wrong.

    They have line, topic, rank, score, previous_rank, previous_score, and a flag for each kind.
    """
    unreadable = rows.filter(pl.col("rank").is_null())["line"]
    rows = rows.select("line", "topic", "rank", "score")
    ranked = _by_rank(rows.filter(pl.col("rank").is_not_null()) if unreadable.len() else rows)
    # An unreadable score is skipped. Infinity stands in for it where the topic has none before.
    is_unknown = pl.col("is_first") & pl.col("score").is_null()
    known = pl.when(is_unknown).then(float("inf")).otherwise("score")
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
    """Return the rows of each topic by rank and line, the first one marked: most files as is."""
    is_first = pl.col("topic").ne_missing(pl.col("topic").shift()).alias("is_first")
    marked = rows.with_columns(is_first)
    is_sorted = (pl.col("rank") >= pl.col("rank").shift()) | pl.col("is_first")
    topics = marked.filter("is_first")["topic"]
    if topics.is_unique().all() and marked.select(is_sorted.all()).item():
        return marked
    return rows.sort("topic", "rank", "line").with_columns(is_first)


def check_ties(ordered: pl.DataFrame, rules: RunRules) -> Iterator[Finding]:
    """Note equal scores of rows in the order that counts (`ranking.with_order`).

    Scores that differ, but are equal as 32-bit floats, are a note of their own.
    """
    score = AS_TREC_EVAL_READS_IT
    if rules.order != "score":
        # In the order of ranks, rows with equal scores need not be neighbours.
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
        yield from find_rows(kind, part, "score_text", "a unique score", ties=TIES[rules.order])


def check_duplicates(rows: pl.DataFrame, rules: RunRules) -> Iterator[Finding]:
    """Find the later lines of items that appear more than once in their topic."""
    repeated = repeated_items(rows)
    if not repeated.height:
        return
    first = pl.col("line").first().over("topic", "item")
    again = repeated.with_columns(first=first).filter(pl.col("line") != pl.col("first"))
    best = "highest score" if rules.order == "score" else "best rank"
    expected = pl.format("the item once; it is already on line {}", "first")
    yield from find_rows("duplicate-item", again, "item", expected, best=best)


def check_limit(rows: pl.DataFrame, rules: RunRules) -> Iterator[Finding]:
    """Find the rows beyond the limit of their topic, for Task 3 additional answers."""
    if fits_limit(rows, rules):
        return
    beyond = kept_rows(rows, rules)[1].join(rows.group_by("topic").len("size"), on="topic")
    yield from find_rows(
        "two-answers" if rules.kind is TaskKind.GENERATED_ANSWERS else "over-limit",
        beyond,
        pl.format("{} items in the topic", "size"),
        f"at most {rules.limit:,}",
        limit=f"{rules.limit:,}",
        limit_answers="one answer" if rules.limit == 1 else f"{rules.limit:,} answers",
        order="score" if rules.order == "score" else "submitted rank",
    )


def _missed_before(lines: pl.Series) -> dict[int, int]:
    """Return how many lines without a rank come right before a line, by that line."""
    before: dict[int, int] = {}
    for line in lines.sort().to_list():
        before[line + 1] = before.pop(line, 0) + 1
    return before


def _expected(kind: str) -> pl.Expr:
    """Return the rank or score that was expected."""
    return {
        "rank-start": pl.lit("1"),
        "rank-repeated": pl.lit("a unique rank"),
        "rank-jump": pl.col("previous_rank") + 1,
        "rank-against-score": pl.format("at most {}", "previous_score"),
    }[kind]


def fits_limit(rows: pl.DataFrame, rules: RunRules) -> bool:
    """Return whether no topic has more rows than the limit."""
    return bool((rows["topic"].value_counts()["count"] <= rules.limit).all())


def repeated_items(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows whose item appears more than once in its topic."""
    # Comparing hashes first takes half the time and a tenth of the memory of comparing all pairs.
    pairs = rows["topic"].hash(seed=1) ^ rows["item"].hash()
    if pairs.n_unique() == rows.height:
        return rows.clear()
    alike = rows.filter(pairs.is_duplicated())
    return alike.filter(pl.struct("topic", "item").is_duplicated())


def kept_rows(rows: pl.DataFrame, rules: RunRules) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the rows that a repair keeps, and those beyond the limit of their topic.

    Of an item that appears several times, the row with the highest score is kept (with the best
    rank where ranks count), then the first line. The limit cuts in the same order.
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
