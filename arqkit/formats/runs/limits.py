"""The rows that repeat an item of their topic, or exceed its limit (protocol §4)."""

from collections.abc import Iterator
from dataclasses import replace

import polars as pl

from arqkit.formats.runs.report import Finding, RunRules, find_rows
from arqkit.ranking import AS_TREC_EVAL_READS_IT, with_order
from arqkit.records import TaskKind


def check_repeats(rows: pl.DataFrame, rules: RunRules) -> Iterator[Finding]:
    """Find the lines that repeat an item of their topic, and those beyond the topic's limit.

    The repair drops these lines, unless it is unclear which line of an item to keep.
    """
    can_drop = True
    if "answer" in rows.columns:
        key = pl.col("rank") if rules.order == "rank" else AS_TREC_EVAL_READS_IT
        can_drop &= not rows.select(pl.struct("topic", key).is_duplicated().any()).item()
    elif (repeated := repeated_items(rows)).height:
        kept = kept_rows(repeated, replace(rules, limit=repeated.height))[0]
        again = repeated.join(
            kept.select("topic", "item", kept="line", top="score", first="rank"),
            on=["topic", "item"],
        ).filter(pl.col("line") != pl.col("kept"))
        is_no_better = (pl.col("score") <= pl.col("top")) & (pl.col("rank") >= pl.col("first"))
        can_drop &= again.select(is_no_better.fill_null(value=False).all()).item()
        expected = pl.format("the item once; it is already on line {}", "kept")
        for finding in find_rows("duplicate-item", again, "item", expected):
            yield finding._replace(repairable=can_drop)
    for finding in _check_limit(rows, rules):
        yield finding._replace(repairable=can_drop)


def _check_limit(rows: pl.DataFrame, rules: RunRules) -> Iterator[Finding]:
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
