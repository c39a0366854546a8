"""Seeded random draws, and the choice of the instances of a formula to judge (protocol §5).

A draw is a hash of the seed, its purpose and the ids it concerns. It does not depend on the order
of the rows, on other draws or on the version of a library.
"""

import math
from hashlib import blake2b

import polars as pl

from arqkit.protocols.presets import InstancePolicy


def chances(rows: pl.DataFrame, *columns: str, seed: int, purpose: str) -> pl.Series:
    """Return a random number (UInt64) for each row by its ids in `columns`, named `chance`.

    Draws with different purposes are independent.
    """
    ids = rows.select(
        pl.concat_str([pl.lit(f"{seed}\t{purpose}"), *columns], separator="\t", ignore_nulls=True)
    )
    draws = [
        int.from_bytes(blake2b(each.encode(), digest_size=8).digest()) for each in ids.to_series()
    ]
    return pl.Series("chance", draws, dtype=pl.UInt64)


def choose_instances(
    candidates: pl.DataFrame, *, policy: InstancePolicy, limit: int, seed: int
) -> pl.DataFrame:
    """Choose at most `limit` instances of each formula, numbered by `position` from 1.

    The result has the columns topic, item, doc_id, post and position. `candidates` has the first
    four, and the column the policy uses:

    - runs (ARQMath-1, 000 §5.4): `runs`, the number of runs that contributed the instance; the
      highest wins.
    - reciprocal-rank (ARQMath-2 and -3, 003 §3, 004 §5.4): `ranks`, a list of the instance's ranks
      in all runs; the highest sum of 1/rank wins. Sums are compared exactly.
    - threads (001): `thread`. The policy chooses answer posts at random, and one instance of each
      post: first one post of each thread, then posts from the rest. If there are more threads than
      the limit, the threads are drawn at random. A post with an unknown thread counts as a thread
      of its own, and an instance with an unknown post as a post of its own.

    Ties are broken at random by the seed and the ids.
    """
    chooser = {"runs": _by_runs, "reciprocal-rank": _by_votes, "threads": _by_threads}[policy]
    ordered = chooser(candidates, seed)
    position = pl.int_range(1, pl.len() + 1, dtype=pl.Int32).over("topic", "item")
    chosen = ordered.with_columns(position=position).filter(pl.col("position") <= limit)
    return chosen.select("topic", "item", "doc_id", "post", "position")


def _by_runs(candidates: pl.DataFrame, seed: int) -> pl.DataFrame:
    return _most_first(candidates, "runs", seed)


def _by_votes(candidates: pl.DataFrame, seed: int) -> pl.DataFrame:
    return _most_first(candidates.with_columns(votes=_votes(candidates["ranks"])), "votes", seed)


def _most_first(candidates: pl.DataFrame, column: str, seed: int) -> pl.DataFrame:
    drawn = candidates.with_columns(
        chances(candidates, "topic", "item", "doc_id", seed=seed, purpose="instance")
    )
    return drawn.sort(
        "topic", "item", column, "chance", "doc_id", descending=[False, False, True, False, False]
    )


def _votes(ranks: pl.Series) -> pl.Series:
    """Return the rank of each list's sum of 1/rank among all sums; equal sums have equal ranks.

    Float sums would depend on the order of the runs, and 1/3 + 1/6 would not equal 1/2. Sums of
    whole numbers avoid both.
    """
    lists = ranks.to_list()
    known = {rank for each in lists for rank in each}
    unit = math.lcm(*known)
    weights = {rank: unit // rank for rank in known}
    sums = [sum(weights[rank] for rank in each) for each in lists]
    places = {value: place for place, value in enumerate(sorted(set(sums)))}
    return pl.Series([places[value] for value in sums], dtype=pl.UInt32)


def _by_threads(candidates: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Order answer posts at random, one post of each thread first; keep one instance of each post.

    The threads, the post of each thread and the rest are drawn independently. A thread with many
    posts has no better chance than others, and a post that was not drawn for its thread has the
    same chance as any other post of the rest.
    """
    key = ["topic", "item"]
    post = pl.coalesce("post", pl.format("instance {}", "doc_id"))
    named = candidates.with_columns(answer=post).with_columns(
        thread=pl.coalesce("thread", pl.format("post {}", "answer"))
    )
    drawn = named.with_columns(chances(named, *key, "doc_id", seed=seed, purpose="instance"))
    answers = drawn.sort(*key, "chance", "doc_id").unique(
        [*key, "answer"], keep="first", maintain_order=True
    )
    draws = {
        "in_thread": chances(answers, *key, "answer", seed=seed, purpose="answer"),
        "rest": chances(answers, *key, "answer", seed=seed, purpose="rest"),
        "of_thread": chances(answers, *key, "thread", seed=seed, purpose="thread"),
    }
    answers = answers.with_columns(**draws).sort(*key, "in_thread", "answer")
    answers = answers.with_columns(is_rest=~pl.struct(*key, "thread").is_first_distinct())
    turn = pl.when("is_rest").then("rest").otherwise("of_thread")
    return answers.with_columns(turn=turn).sort(*key, "is_rest", "turn", "answer")
