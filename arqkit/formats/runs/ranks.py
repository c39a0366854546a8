"""The rules on the ranks and scores of a run (protocol §4)."""

from collections.abc import Iterator

import polars as pl

from arqkit.formats.runs.report import Finding, RunRules, find_rows, named_list
from arqkit.ranking import AS_TREC_EVAL_READS_IT
from arqkit.records import Severity

TWICE = (1, 2, 3)
"""Two lists of one topic give each of these ranks to two items, with different scores."""

NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
DECIMAL_COMMA = r"^[+-]?[0-9]*,[0-9]+([eE][+-]?[0-9]+)?$"
PERCENT = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)\s?%$"
THOUSANDS = r"^[+-]?[1-9][0-9]{0,2},[0-9]{3}$"
# trec_eval keeps scores as C floats, in which a larger one is infinity (docs/adr/0004).
LARGEST_32_BIT = 3.4028234663852886e38
TIES = {
    "score": "trec_eval 9.0.4 orders equal scores by id, the last id in byte order first, and "
    "ignores the ranks. So do we.",
    "rank": "This task orders items by the submitted ranks. trec_eval would order equal scores by "
    "id, the last id first.",
}
COUNTS = {"score": "This task orders items by score.", "rank": "This task orders items by rank."}
POOLED_BY_RANK = "This task scores items by score, and pools them by rank."
RANK_KINDS = ("rank-start", "rank-repeated", "rank-jump", "rank-against-score")
BY_SCORE = ("rank-not-integer", "rank-below-1", "rank-repeated", "rank-against-score")
"""The kinds whose topics only scores can number again."""
FOUND = {"rank-not-integer": "rank_text", "rank-against-score": "score"}

EXPECTED: dict[str, pl.Expr] = {
    "rank-not-integer": pl.lit("a whole number"),
    "rank-below-1": pl.lit("1 or higher"),
    "rank-start": pl.lit("1"),
    "rank-repeated": pl.lit("a unique rank"),
    "rank-jump": pl.col("previous_rank") + 1,
    "rank-against-score": pl.format("at most {}", "previous_score"),
}


def check_runs(rows: pl.DataFrame) -> Iterator[Finding]:
    """Find rows of another run: another tag with the same ranks or items, or a second list."""
    named = rows.filter(pl.col("tag") != "")
    if named["tag"].n_unique() < 2:
        return
    tags = named["tag"].value_counts(sort=True)["tag"].to_list()
    is_clash = pl.any_horizontal(
        (pl.col("tag").n_unique().over("topic", place) > 1) & pl.col(place).is_not_null()
        for place in ("rank", "item")
    )
    clash = named.filter(is_clash).filter(pl.col("tag") != tags[0])
    listed = named_list([f"`{tag}`" for tag in tags])
    yield from find_rows("two-runs", clash, "tag", tags[0], tags=listed)


def check_lists(rows: pl.DataFrame) -> Iterator[Finding]:
    """Find topics with two ranked lists, if these are most topics: a run has one list a topic."""
    is_shared = pl.col("score").n_unique().over("topic", "rank") > 1
    first = rows.filter(pl.col("rank").is_in(TWICE)).filter(is_shared)
    twice = first.group_by("topic").agg(
        pl.col("rank").n_unique(), line=pl.col("line").sort().get(1), found=pl.lit("rank 1 again")
    )
    twice = twice.filter(pl.col("rank") == len(TWICE))
    if twice.height * 2 > rows["topic"].n_unique():
        yield from find_rows("two-lists", twice, "found", "one list of ranks")


def has_mixed_tags(rows: pl.DataFrame) -> bool:
    """Return whether a topic has rows of several tags, which may be rows of several runs."""
    if rows["tag"].n_unique() < 2:
        return False
    named = rows.filter(pl.col("tag") != "").group_by("topic").agg(pl.col("tag").n_unique())
    return bool((named["tag"] > 1).any())


def swapped_topics(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the topics whose ranks look like scores and whose scores like ranks.

    Either most ranks are fractions and the scores different whole numbers, or the scores count the
    lines from 1 (or 0) while the ranks fall and do not count anything.
    """
    value, score = pl.col("value"), pl.col("score")
    read = rows.select(
        "line",
        "topic",
        "score",
        found=pl.format("rank {}, score {}", "rank_text", "score_text"),
        expected=pl.format("rank {}, score {}", "score_text", "rank_text"),
        value=pl.col("rank_text").cast(pl.Float64, strict=False),
    ).filter(value.is_finite() & score.is_not_null())
    counts = (score.diff() == 1).all() & score.first().is_in([0.0, 1.0])
    ranks_count = value.min().is_in([0.0, 1.0]) & (value.max() - value.min() == pl.len() - 1)
    falls = (value.diff() <= 0).all() & (value.first() > value.last())
    topics = read.group_by("topic", maintain_order=True).agg(
        pl.col("line", "found", "expected").first(),
        size=pl.len(),
        has_fractions=(value != value.floor()).mean() > 0.5,
        has_whole_scores=((score == score.floor()) & (score >= 0) & score.is_unique()).all(),
        counts_lines=counts & falls & ~(ranks_count & value.is_unique().all()),
    )
    is_swapped = (pl.col("has_fractions") & pl.col("has_whole_scores")) | pl.col("counts_lines")
    return topics.filter((pl.col("size") > 1) & is_swapped)


def has_scores(rows: pl.DataFrame) -> bool:
    """Return whether the rows are of a file with scores, and not only ranks."""
    return "score_text" in rows.columns


def with_numbers(rows: pl.DataFrame) -> pl.DataFrame:
    """Add rank (Int64) and score (Float64), null where the text is not a number in range.

    The casts of polars take only plain decimal notation: no `1_000`, no spaces, no digits other
    than 0 to 9. Without scores in the file, the score is the negative rank: it orders the items as
    their ranks do, in 32 bits up to rank 2**24.
    """
    rank = pl.col("rank_text").cast(pl.Int64, strict=False)
    if not has_scores(rows):
        return rows.with_columns(rank=rank, score=-rank.cast(pl.Float64))
    text = pl.col("score_text")
    if reads_commas(rows):
        text = with_point(text)
    score = text.cast(pl.Float64, strict=False)
    # To polars, NaN is larger than every number, so this excludes it too.
    return rows.with_columns(rank=rank, score=pl.when(score.abs() <= LARGEST_32_BIT).then(score))


def with_point(text: pl.Expr) -> pl.Expr:
    """Return scores with a decimal point instead of a decimal comma."""
    return (
        pl.when(text.str.contains(DECIMAL_COMMA)).then(text.str.replace(",", ".")).otherwise(text)
    )


def without_percent(text: pl.Expr) -> pl.Expr:
    """Return scores without the percent sign at their end."""
    return text.str.replace(r"\s?%$", "")


def reads_commas(rows: pl.DataFrame) -> bool:
    """Return whether the commas in the scores are certainly decimal commas.

    `1,234` beside `987` may be a thousand, and be above or below it. If all scores have a comma,
    both readings order them alike.
    """
    commas = rows["score_text"].str.contains(DECIMAL_COMMA)
    if not commas.any():
        return False
    decimal = rows.filter(commas)["score_text"].str.contains(THOUSANDS).not_()
    return bool(commas.all() or decimal.any())


def check_scores(rows: pl.DataFrame) -> Iterator[Finding]:
    """Find scores that cannot be ordered, such as NaN, or have a decimal comma."""
    if not has_scores(rows):
        return
    text, value = pl.col("score_text"), pl.col("score_text").cast(pl.Float64, strict=False)
    wrong = rows.filter(pl.col("score").is_null() | text.str.contains(DECIMAL_COMMA))
    if not wrong.height:
        return
    kinds = {
        "score-nan": value.is_nan(),
        "score-out-of-range": text.str.contains(NUMBER),
        "score-infinite": value.is_infinite(),
        "score-decimal-comma": text.str.contains(DECIMAL_COMMA),
        "score-percent": text.str.contains(PERCENT),
    }
    # Where only some scores have the sign, 95% may be above or below 0.9.
    are_percents = rows.select(text.str.contains(PERCENT).all()).item()
    can_repair = {"score-decimal-comma": reads_commas(rows), "score-percent": are_percents}
    kind = pl.lit("score-not-a-number")
    for name, condition in reversed(kinds.items()):
        kind = pl.when(condition).then(pl.lit(name)).otherwise(kind)
    for (name,), part in wrong.with_columns(kind=kind).group_by("kind"):
        for finding in find_rows(str(name), part, "score_text", "a finite decimal number"):
            yield finding._replace(repairable=can_repair.get(str(name), True))


def check_ranks(rows: pl.DataFrame, lost: pl.Series, rules: RunRules) -> Iterator[Finding]:
    """Find ranks that are no whole numbers from 1, repeat, jump, or contradict the scores.

    `lost` has the lines that are not rows: a rank that may be on one of them is not missing. Topics
    with swapped ranks and scores have no other fault. If they are most topics, no topic has.
    """
    swapped = swapped_topics(rows) if has_scores(rows) else rows.clear()
    yield from find_rows("swapped-columns", swapped, "found", pl.col("expected"))
    if swapped.height * 2 > rows["topic"].n_unique():
        return
    if swapped.height:
        rows = rows.filter(pl.col("topic").is_in(swapped["topic"].implode()).not_())
    can_renumber = not swapped.height and may_renumber(rows, rules)
    is_pooled_by_rank = rules.ranks_count and rules.order == "score"
    counts = POOLED_BY_RANK if is_pooled_by_rank else COUNTS[rules.order]
    faults = rank_faults(rows, lost)
    unreadable = rows.filter(pl.col("rank").is_null())
    parts = {
        "rank-not-integer": unreadable,
        "rank-below-1": rows.filter(pl.col("rank") < 1),
        **{kind: faults.filter(kind) for kind in RANK_KINDS},
    }
    for kind, part in parts.items():
        actual = FOUND.get(kind, "rank")
        for finding in find_rows(kind, part, actual, EXPECTED[kind], counts=counts):
            is_error = kind == "rank-repeated" and rules.ranks_count
            yield finding._replace(
                severity=Severity.ERROR if is_error else None,
                repairable=can_renumber and not (rules.ranks_count and kind in BY_SCORE),
            )


def may_renumber(rows: pl.DataFrame, rules: RunRules) -> bool:
    """Return whether other ranks leave the order of every list as it is.

    Where ranks count, each item needs a rank of its own. Otherwise each needs a score, and a rank
    such as 12.5 may be its score.
    """
    if rules.ranks_count:
        is_clear = (pl.col("rank") >= 1).fill_null(value=False).all()
        return bool(rows.select(is_clear & pl.struct("topic", "rank").is_unique().all()).item())
    value = pl.col("rank_text").cast(pl.Float64, strict=False)
    has_fraction = (value.is_finite() & (value != value.floor())).fill_null(value=False)
    return bool(rows.select((pl.col("score").is_not_null() & ~has_fraction).all()).item())


def rank_faults(rows: pl.DataFrame, lost: pl.Series) -> pl.DataFrame:
    """Return the rows whose rank is wrong.

    They have line, topic, rank, score, previous_rank, previous_score, and a flag for each kind.
    """
    unreadable = rows.filter(pl.col("rank").is_null())["line"]
    # A rank below 1 is a fault of its own, and no reason for another.
    rows = rows.select("line", "topic", pl.col("rank").clip(0), "score")
    ranked = _by_rank(rows.filter(pl.col("rank").is_not_null()) if unreadable.len() else rows)
    # An unreadable score is skipped. Infinity stands in for it where the topic has none before.
    is_unknown = pl.col("is_first") & pl.col("score").is_null()
    score = pl.when(is_unknown).then(float("inf")).otherwise("score")
    ranked = ranked.with_columns(
        previous_rank=pl.when("is_first").then(0).otherwise(pl.col("rank").shift()),
        previous_score=score.forward_fill().shift(),
        missed=pl.lit(0),
    )
    if missed := _missed_before(pl.concat([unreadable, lost])):
        ranked = ranked.with_columns(missed=pl.col("line").replace_strict(missed, default=0))
    is_rise = pl.col("previous_score").cast(pl.Float32) < AS_TREC_EVAL_READS_IT
    step = pl.col("rank") - pl.col("previous_rank")
    is_gap = (step < 1) | (step > 1 + pl.col("missed"))
    flags = {
        "rank-start": pl.col("is_first") & is_gap & (pl.col("rank") > 0),
        "rank-repeated": ~pl.col("is_first") & (step == 0) & (pl.col("rank") > 0),
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
    if not has_scores(ordered):
        return  # equal ranks are named as such
    score, columns = AS_TREC_EVAL_READS_IT, ("line", "topic", "score", "score_text")
    if rules.order != "score":
        # In the order of ranks, rows with equal scores need not be neighbours.
        ordered = ordered.select(columns).sort("topic", "score", nulls_last=True)
    is_same = (pl.col("topic") == pl.col("topic").shift()) & (score == score.shift())
    is_same = is_same.fill_null(value=False)
    is_tied = is_same | is_same.shift(-1, fill_value=False)
    ordered = ordered.select(columns)
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


def _missed_before(lines: pl.Series) -> dict[int, int]:
    before: dict[int, int] = {}
    for line in lines.sort().to_list():
        before[line + 1] = before.pop(line, 0) + 1
    return before
