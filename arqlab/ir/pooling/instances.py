"""Chance that comes from a seed, and the choice of the instances of a formula that are judged
(protocol §5).

A draw is a hash of the seed, its purpose and the ids it is for: it does not depend on the sequence
of rows, nor on what else is drawn, nor on the version of a library.
"""

import math
from hashlib import blake2b

import polars as pl

from arqlab.ir.protocols.presets import InstancePolicy


def chances(rows: pl.DataFrame, *columns: str, seed: int, purpose: str) -> pl.Series:
    """Draw a number (UInt64) for each row by its ids in `columns`, named `chance`. Draws of two
    purposes are independent.
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
    """Choose at most `limit` instances of each formula: topic, item, doc_id, post, position (from
    1, the chosen first).

    `candidates` has topic, item, doc_id, post, and what the policy goes by:

    - runs (ARQMath-1, 000 §5.4): `runs`, how many runs brought the instance into the pool; the most
    win.
    - reciprocal-rank (ARQMath-2 and -3, 003 §3, 004 §5.4): `ranks`, a list of its ranks in all
    runs; the highest sum of
      1/rank wins. Sums are compared exactly.
    - threads (001): `thread`. The answer posts are chosen, one instance of each, at random: one of
    each thread, then of
      the rest; of more threads than the limit, which ones. A post whose thread is not known is a
      thread of its own, an
      instance whose post is not known a post of its own.

    Ties are broken at random, by the seed and the ids.
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
    """Return each list of ranks the place of its sum of 1/rank among all sums: equal sums have one
    place.

    Sums of floats would depend on the order of the runs, and 1/3 + 1/6 would not tie with 1/2:
    whole numbers do neither.
    """
    lists = ranks.to_list()
    known = {rank for each in lists for rank in each}
    unit = math.lcm(*known)
    share = {rank: unit // rank for rank in known}
    sums = [sum(share[rank] for rank in each) for each in lists]
    places = {value: place for place, value in enumerate(sorted(set(sums)))}
    return pl.Series([places[value] for value in sums], dtype=pl.UInt32)


def _by_threads(candidates: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Put one instance of each post first that is the only one of its thread, then the others; all
    at random.

    The threads, the post of each thread, and the rest are drawn for themselves: a thread with many
    posts has no better chance, and a post that was not drawn for its thread is as good as any other
    in the rest.
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
