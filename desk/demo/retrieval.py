"""Runs of the demo's systems, as rows and as the files that teams upload.

Retrieval is deterministic: the same posts and topics give the same run, byte for byte.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from html import unescape
from typing import Any, NamedTuple

import numpy as np

from arqkit.records import TaskKind, TopicRecord
from desk.demo import systems
from desk.demo.posts import Post
from desk.demo.systems import Library
from desk.demo.weighting import Scores

System = Callable[..., Scores]
MAX_CHARACTERS = 1200

ANSWER_SYSTEMS: Mapping[str, System] = {
    "bm25": systems.answer_bm25,
    "by-question": systems.answer_by_question,
    "combination": systems.answer_combination,
    "feedback": systems.answer_feedback,
    "latent": systems.answer_latent,
    "likelihood": systems.answer_likelihood,
    "manual": systems.answer_manual,
    "tfidf": systems.answer_cosine,
}
FORMULA_SYSTEMS: Mapping[str, System] = {
    "formula-bm25": systems.formula_bm25,
    "formula-cosine": systems.formula_cosine,
    "formula-in-context": systems.formula_in_context,
    "formula-overlap": systems.formula_overlap,
}


class RankedPost(NamedTuple):
    """One row of a run: `item` is a post or a formula instance, `post` the instance's post or "".

    In Task 3, `answer` is the text of the answer, and `post` the posts it was made from.
    """

    query_id: str
    item: str
    post: str
    rank: int
    score: float
    answer: str = ""


def retrieve(
    system: str,
    topics: Sequence[TopicRecord],
    library: Library,
    *,
    depth: int = 1000,
    **parameters: Any,
) -> list[RankedPost]:
    """Run one of `ANSWER_SYSTEMS` or `FORMULA_SYSTEMS`; return at most `depth` matches per topic.

    Rows are ranked in trec_eval's order: by score, then by id, both descending. Raises KeyError for
    an unknown system.
    """
    if system in FORMULA_SYSTEMS:
        scores = FORMULA_SYSTEMS[system](library, topics, **parameters)
        items = [(formula.formula_id, formula.post_id) for formula in library.formulas]
    else:
        scores = ANSWER_SYSTEMS[system](library, topics, **parameters)
        items = [(answer.post_id, "") for answer in library.answers]
    listed = zip(topics, np.round(scores, 6).tolist(), strict=True)
    return [
        row
        for topic, topic_scores in listed
        for row in _ranked(topic.query_id, items, topic_scores, depth)
    ]


def _ranked(
    query_id: str, items: Sequence[tuple[str, str]], scores: Sequence[float], depth: int
) -> list[RankedPost]:
    matching = [(score, *item) for score, item in zip(scores, items, strict=True) if score > 0]
    best = sorted(matching, reverse=True)[:depth]
    return [
        RankedPost(query_id, item, post, rank, score)
        for rank, (score, item, post) in enumerate(best, start=1)
    ]


def extract(
    system: str,
    topics: Sequence[TopicRecord],
    library: Library,
    *,
    skip: int = 0,
    **parameters: Any,
) -> list[RankedPost]:
    """Answer each topic with the text of a retrieved answer post (Task 3, extractive).

    This is the best post, or the one after `skip` better posts.
    """
    texts = {answer.post_id: answer for answer in library.answers}
    ranked = retrieve(system, topics, library, depth=skip + 1, **parameters)
    chosen = [row for row in ranked if row.rank == skip + 1]
    return [
        row._replace(rank=1, post=row.item, answer=text_of_html(texts[row.item])) for row in chosen
    ]


def text_of_html(post: Post) -> str:
    """Return a post's text without markup, cut at a sentence to the length limit of Task 3.

    Formulas are between dollar signs.
    """
    text = " ".join(unescape(re.sub(r"<[^>]+>", "", post.body)).split())
    if len(text) <= MAX_CHARACTERS:
        return text
    end = text.rfind(". ", 0, MAX_CHARACTERS)
    return text[: end + 1]


def write_run(rows: Sequence[RankedPost], *, tag: str, kind: TaskKind) -> bytes:
    """Return a run as the TSV of its task, with the columns of protocol §4."""
    lines = ("\t".join(_cells(row, tag, kind)) for row in rows)
    return "".join(f"{line}\n" for line in lines).encode()


def _cells(row: RankedPost, tag: str, kind: TaskKind) -> tuple[str, ...]:
    numbers = (str(row.rank), f"{row.score:.6f}", tag)
    if kind == TaskKind.GENERATED_ANSWERS:
        return (row.query_id, *numbers, row.post, row.answer)
    if kind == TaskKind.FORMULAS:
        return (row.query_id, row.item, row.post, *numbers)
    return (row.query_id, row.item, *numbers)
