"""Systems that search for formulas: Task 2, and Task 1 by a formula of the question (004 §4.3)."""

from collections.abc import Callable, Iterator

import polars as pl

from arqkit.formats.runs.writing import MOST_ITEMS
from arqkit.records import TaskKind, TopicRecord
from arqkit.retrieval.layout_trees import layout_tree
from arqkit.texts.html.rendering import read_text
from arqkit.texts.html.sanitizer import clean_title_and_body
from arqkit.texts.maths.typesetting import presentation_mathml
from contrib.retrieval.selectors import Sources
from contrib.retrieval.services.indexes import Progress
from contrib.retrieval.services.timing import Ranked, ranked_by_topic

INSTANCES = 100_000
"""Instances of formulas that are read for a question: few answers have many of the best ones."""

Search = Callable[[TopicRecord, str, int], pl.DataFrame]
"""Returns the ranking (topic, item, score) of formulas for a topic's LaTeX, at most so many."""


def rank_formulas(sources: Sources, progress: Progress, search: Search) -> Ranked:
    """Return the best formulas for each topic, or the answers with the best ones (000, §4.3)."""
    is_for_formulas = TaskKind(sources.task.kind) is TaskKind.FORMULAS

    def ranked(topic: TopicRecord) -> pl.DataFrame | None:
        latex = query_latex(topic)
        if not latex:
            return None
        ranking = search(topic, latex, MOST_ITEMS if is_for_formulas else INSTANCES)
        return ranking if is_for_formulas else _answers(sources, ranking)

    return ranked_by_topic(sources.topics, progress, ranked)


def query_latex(topic: TopicRecord) -> str | None:
    """Return the LaTeX of a topic's formula: its own, else the one with the largest layout tree in
    the title or, if that has none, in the body (004 §4.3).
    """
    if topic.latex:
        return topic.latex
    title, body = clean_title_and_body(topic.title, topic.body, post_id=topic.query_id)
    in_title, in_body = list(_sizes(title.html)), list(_sizes(body.html))
    _, latex = max(in_title or in_body, key=lambda sized: sized[0], default=(0, None))
    return latex


def _answers(sources: Sources, formulas: pl.DataFrame) -> pl.DataFrame:
    posts = sources.answers_with(formulas["item"])
    answers = formulas.rename({"item": "formula_id"}).join(posts, on="formula_id")
    best = answers.group_by("topic", item="post_id").agg(pl.col("score").max())
    return best.select("topic", "item", "score")


def _sizes(clean_html: str) -> Iterator[tuple[int, str]]:
    """Yield the size of the layout tree and the LaTeX of each formula that is one."""
    for formula in read_text(clean_html).formulas:
        if mathml := presentation_mathml(formula.latex):
            tree = layout_tree(mathml)
            yield len(tree.labels) if tree else 0, formula.latex
