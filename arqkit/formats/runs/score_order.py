"""Whether the scores of a run order its items as its ranks do, as a whole.

A run of distances, of one score for all items, or with separators of thousands has no wrong line,
and yet another order than its system meant.
"""

from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

from arqkit.formats.runs.ranks import has_scores
from arqkit.formats.runs.report import Finding, RunRules, find_rows
from arqkit.records import Severity

FEWEST = 3
"""Items of a topic whose order shows anything: two of them may be swapped by chance."""
MOST = 0.9
"""The part of the steps from rank to rank at which scores rise, where the ranks are otherwise in
the order of the scores."""
GROUPED = r"^[1-9][0-9]{0,2}([.][0-9]{3})+$"
BELOW_A_THOUSAND = r"^[0-9]{1,3}$"


class ScoreOrder(NamedTuple):
    """The findings on the scores of most topics, and the topics whose ranks these explain."""

    findings: list[Finding]
    explained: list[str]


def check_score_order(rows: pl.DataFrame, rules: RunRules) -> ScoreOrder:
    """Find that scores rise with rank, are all equal, or have separators of thousands.

    Each is a warning about most topics. No repair follows: the ranks may be wrong, or the scores.
    Without scores in the file, there is nothing to compare.
    """
    if not has_scores(rows):
        return ScoreOrder([], [])
    ranked = rows.filter(pl.col("rank").is_not_null() & pl.col("score").is_not_null())
    topics = _steps(ranked.select("line", "topic", "rank", "score"))
    grouped = list(_grouped(ranked))
    risen = topics.filter((pl.col("values") >= FEWEST) & (pl.col("rising") >= MOST))
    varied = topics.filter(pl.col("values") >= FEWEST).height
    flat = topics.filter(pl.col("values") == 1)
    findings = []
    if grouped:
        findings += grouped
    elif risen.height * 2 > varied:
        findings += _of_topics("score-rises", risen, varied, "scores that fall with rank")
    if flat.height * 2 > topics.height:
        findings += _of_topics("score-constant", flat, topics.height, "scores that differ")
    if rules.order != "score":
        findings = [finding._replace(severity=Severity.NOTE) for finding in findings]
    explained = topics if grouped else risen if findings else risen.clear()
    return ScoreOrder(findings, explained["topic"].to_list())


def _steps(ranked: pl.DataFrame) -> pl.DataFrame:
    """Return the topics with enough items: the line and score of the first and the last rank, the
    number of different scores, and the part of the steps between ranks that rise.
    """
    step = pl.col("score").diff()
    return (
        ranked.sort("topic", "rank", "line")
        .group_by("topic", maintain_order=True)
        .agg(
            line=pl.col("line").first(),
            first=pl.col("score").first(),
            last=pl.col("score").last(),
            size=pl.len(),
            values=pl.col("score").n_unique(),
            rising=(step > 0).sum() / (step != 0).sum(),
        )
        .filter(pl.col("size") >= FEWEST)
        .sort("line")
    )


def _of_topics(kind: str, topics: pl.DataFrame, total: int, expected: str) -> Iterator[Finding]:
    actual = pl.format("score {} at the first rank, {} at the last", "first", "last")
    yield from find_rows(kind, topics, actual, expected, number=f"{topics.height:,} of {total:,}")


def _grouped(ranked: pl.DataFrame) -> Iterator[Finding]:
    """Find scores such as `1.234` beside `987` that the ranks show to be whole numbers.

    They are where the scores fall with rank in every topic as whole numbers, and not as decimals.
    """
    text = pl.col("score_text")
    is_grouped, is_small = text.str.contains(GROUPED), text.str.contains(BELOW_A_THOUSAND)
    if not ranked.select(is_grouped.any() & is_small.any() & (is_grouped | is_small).all()).item():
        return
    whole = text.str.replace_all(".", "", literal=True).cast(pl.Float64)
    steps = ranked.with_columns(whole=whole).sort("topic", "rank", "line")
    falls = [(pl.col(name).diff() <= 0).all().alias(name) for name in ("score", "whole")]
    topics = steps.group_by("topic").agg(*falls)
    wrong = topics.filter(~pl.col("score"))
    if wrong.height and topics["whole"].all():
        lines = ranked.filter(is_grouped).with_columns(whole=whole.cast(pl.Int64))
        number = f"{wrong.height:,} of {topics.height:,}"
        yield from find_rows("score-thousands", lines, "score_text", pl.col("whole"), number=number)
