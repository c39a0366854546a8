"""Mix-ups that no repair may touch: two runs in one file, and swapped rank and score columns."""

from collections.abc import Iterator

import polars as pl

from arqkit.formats.runs.report import Finding, find_rows, named_list

TWICE = (1, 2, 3)
"""Two lists of one topic give each of these ranks to two items, with different scores."""


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
        has_whole_scores=(score == score.floor()).all()
        & (score >= 0).all()
        & score.is_unique().all(),
        counts_lines=counts & falls & ~(ranks_count & value.is_unique().all()),
    )
    return topics.filter(
        (pl.col("size") > 1)
        & ((pl.col("has_fractions") & pl.col("has_whole_scores")) | pl.col("counts_lines"))
    )
