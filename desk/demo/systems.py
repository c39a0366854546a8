"""The demo's retrieval systems: scores of all answers or formula instances for each topic."""

import tomllib
from collections.abc import Sequence
from functools import cache
from typing import Any, Literal, NamedTuple

import numpy as np

from arqkit.records import TopicRecord
from arqkit.texts.posts.text import text_formulas
from desk.demo import tokens, weighting
from desk.demo.posts import FOLDER, DemoFormula, Post
from desk.demo.weighting import Scores

DataUsed = Literal["text", "math", "both"]
Thread = Literal["none", "title", "whole"]


class Library(NamedTuple):
    """The searchable collection: answers, the question of each thread, and formula instances."""

    answers: tuple[Post, ...]
    questions: dict[str, Post]
    formulas: tuple[DemoFormula, ...]


def open_library(posts: Sequence[Post], formulas: Sequence[DemoFormula]) -> Library:
    """Return the searchable collection of posts and formulas."""
    answers = tuple(post for post in posts if post.kind == "answer")
    questions = {post.post_id: post for post in posts if post.kind == "question"}
    return Library(answers, questions, tuple(formulas))


def answer_bm25(
    library: Library,
    topics: Sequence[TopicRecord],
    *,
    data: DataUsed = "both",
    thread: Thread = "none",
    title: int = 1,
    **weights: Any,
) -> Scores:
    """Score answers by BM25, with the topic's title counted `title` times.

    `thread` adds the answer's question to its text.
    """
    return weighting.bm25(
        _documents(library, data, thread), _queries(topics, data, title), **weights
    )


def answer_cosine(
    library: Library,
    topics: Sequence[TopicRecord],
    *,
    data: DataUsed = "both",
    thread: Thread = "none",
    sublinear: bool = False,
) -> Scores:
    """Score answers by the cosine of TF-IDF vectors of words, of LaTeX tokens or of both."""
    return weighting.cosine(
        _documents(library, data, thread), _queries(topics, data, 1), sublinear=sublinear
    )


def answer_feedback(
    library: Library, topics: Sequence[TopicRecord], *, best: int = 3, weight: float = 0.4
) -> Scores:
    """Score answers by TF-IDF with pseudo-relevance feedback from the `best` answers."""
    return weighting.feedback(
        _documents(library, "both", "none"), _queries(topics, "both", 1), best=best, weight=weight
    )


def answer_latent(
    library: Library, topics: Sequence[TopicRecord], *, dimensions: int = 60
) -> Scores:
    """Score answers by similarity in a latent semantic space."""
    return weighting.latent(
        _documents(library, "both", "title"), _queries(topics, "both", 1), dimensions=dimensions
    )


def answer_likelihood(
    library: Library, topics: Sequence[TopicRecord], *, mu: float = 200.0, title: int = 1
) -> Scores:
    """Score answers by the likelihood of the topic's words under the answer's language model."""
    return weighting.likelihood(
        _documents(library, "text", "title"), _queries(topics, "text", title), mu=mu
    )


def answer_by_question(
    library: Library, topics: Sequence[TopicRecord], *, answers: float = 0.3
) -> Scores:
    """Score answers by the similarity of their question to the topic, plus their BM25 score."""
    numbers = {thread: number for number, thread in enumerate(library.questions)}
    asked = [_bag(post.title + " " + post.body, "both") for post in library.questions.values()]
    of_questions = weighting.cosine(asked, _queries(topics, "both", 2), sublinear=True)
    spread = of_questions[:, [numbers[answer.thread_id] for answer in library.answers]]
    own = weighting.min_max(answer_bm25(library, topics))
    return weighting.min_max(spread) + answers * own


def answer_combination(
    library: Library, topics: Sequence[TopicRecord], *, text: float = 0.5
) -> Scores:
    """Score answers by BM25 on words and TF-IDF on LaTeX tokens.

    The scores are min-max normalized and weighted by `text` and 1 - `text`.
    """
    in_words = weighting.min_max(answer_bm25(library, topics, data="text", thread="title"))
    in_math = weighting.min_max(answer_cosine(library, topics, data="math", sublinear=True))
    return text * in_words + (1 - text) * in_math


def answer_manual(
    library: Library, topics: Sequence[TopicRecord], *, k1: float = 1.2, b: float = 0.75
) -> Scores:
    """Score answers by BM25 with queries written by a person (`manual-queries.toml`)."""
    written = _manual_queries()
    queries = [_bag(written.get(topic.query_id, topic.title), "both") for topic in topics]
    return weighting.bm25(_documents(library, "both", "title"), queries, k1=k1, b=b)


@cache
def _manual_queries() -> dict[str, str]:
    read: dict[str, str] = tomllib.loads((FOLDER / "manual-queries.toml").read_text())["queries"]
    return read


def formula_cosine(
    library: Library, topics: Sequence[TopicRecord], *, size: int = 1, sublinear: bool = False
) -> Scores:
    """Score formula instances by the cosine of their n-grams of 1 to `size` LaTeX tokens."""
    return weighting.cosine(
        _formula_bags(library, size), _formula_queries(topics, size), sublinear=sublinear
    )


def formula_bm25(
    library: Library,
    topics: Sequence[TopicRecord],
    *,
    size: int = 2,
    k1: float = 1.2,
    b: float = 0.4,
) -> Scores:
    """Score formula instances by BM25 over n-grams of their LaTeX tokens."""
    return weighting.bm25(_formula_bags(library, size), _formula_queries(topics, size), k1=k1, b=b)


def formula_overlap(library: Library, topics: Sequence[TopicRecord], *, size: int = 2) -> Scores:
    """Score formula instances by the Dice coefficient of their n-grams with the query formula's."""
    candidates = [frozenset(bag) for bag in _formula_bags(library, size)]
    scores = [
        [_dice(asked, candidate) for candidate in candidates]
        for asked in map(frozenset, _formula_queries(topics, size))
    ]
    return np.asarray(scores, dtype=np.float64)


def _dice(first: frozenset[str], second: frozenset[str]) -> float:
    return 2 * len(first & second) / (len(first) + len(second)) if first or second else 0.0


def formula_in_context(
    library: Library, topics: Sequence[TopicRecord], *, context: float = 0.3
) -> Scores:
    """Score formula instances by their n-grams and by the words of their post."""
    posts = {post.post_id: post for post in (*library.questions.values(), *library.answers)}
    numbers = {post_id: number for number, post_id in enumerate(posts)}
    texts = [_bag(post.title + " " + post.body, "text") for post in posts.values()]
    of_posts = weighting.min_max(weighting.bm25(texts, _queries(topics, "text", 2)))
    around = of_posts[:, [numbers[formula.post_id] for formula in library.formulas]]
    alike = weighting.min_max(formula_cosine(library, topics, size=3, sublinear=True))
    combined: Scores = np.where(alike > 0, (1 - context) * alike + context * around, 0.0)
    return combined


def _documents(library: Library, data: DataUsed, thread: Thread) -> list[list[str]]:
    return [_bag(_text(library, answer, thread), data) for answer in library.answers]


def _text(library: Library, answer: Post, thread: Thread) -> str:
    question = library.questions[answer.thread_id]
    added = {"none": "", "title": question.title, "whole": f"{question.title} {question.body}"}[
        thread
    ]
    return f"{added} {answer.body}"


def _queries(topics: Sequence[TopicRecord], data: DataUsed, title: int) -> list[list[str]]:
    return [_bag(" ".join([topic.title] * title + [topic.body]), data) for topic in topics]


@cache
def _bag(html: str, data: DataUsed) -> list[str]:
    """Return the tokens of a text; tokens of formulas are marked to differ from words."""
    math = (
        []
        if data == "text"
        else [f"${sign}" for formula in text_formulas(html) for sign in _grams(formula.latex, 2)]
    )
    return math if data == "math" else tokens.lower_words(html) + math


@cache
def _grams(latex: str, size: int) -> list[str]:
    signs = tokens.latex_tokens(latex)
    return [gram for length in range(1, size + 1) for gram in tokens.ngrams(signs, length)]


def _formula_bags(library: Library, size: int) -> list[list[str]]:
    return [_grams(formula.latex, size) for formula in library.formulas]


def _formula_queries(topics: Sequence[TopicRecord], size: int) -> list[list[str]]:
    return [_grams(topic.latex or "", size) for topic in topics]
