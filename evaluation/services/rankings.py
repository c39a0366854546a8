"""The rankings of runs for one topic, with labels, and the relevant items that runs found."""

from collections.abc import Collection, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import quote, urlencode

import polars as pl
from django.utils.safestring import SafeString

from arqkit.judgments.qrels import JudgedTopic
from arqkit.records import ItemKind
from arqkit.texts.html.foreign import plain_html
from arqkit.texts.html.rendering import render_formula
from arqkit.texts.posts.snippets import Part, joined, snippet
from arqlab.core.caches import cached_value, key_of
from arqlab.core.models import Corrections, Lab, Topic
from arqlab.labs.selectors import corrections_of
from assessment.models import QrelSet
from assessment.qrels.selectors.versions import topic_frame, version_topics
from collection.models import Post
from collection.selectors.collections import collection_of, visual_ids_among
from collection.selectors.formulas import FormulaShown, formulas_shown
from collection.selectors.threads import corrected_post, posts_of
from collection.services.addresses import post_url
from collection.services.lookup import snippet_html
from evaluation.permissions import VisibleBoard
from evaluation.selectors.pending_scores import item_facts, qrels_rules
from evaluation.selectors.records import board_topics, with_recorded_answers
from evaluation.services.scoring import OPENING, comparable_items
from submissions.models import Run
from submissions.selectors import ordered_index, run_items

_NOTHING = SafeString("")
LENGTH = 160  # characters
KEPT = 2048
"""How many texts with their snippets a process keeps: about 10 MB."""
FEW_FINDERS = 10
"""The most runs that a page names for an item."""
_FORMULAS = (ItemKind.FORMULA_IDS, ItemKind.VISUAL_IDS)
_COLUMNS = ("topic", "item", "post", "rank", "score")
_FOUND = {"item": pl.String, "run": pl.Int64, "order": pl.Int32}


class ItemText(NamedTuple):
    """The beginning of an item as HTML, and the address of its post; empty if unknown or closed."""

    html: SafeString = _NOTHING
    url: str = ""


def item_texts(
    rows: pl.DataFrame, *, items: ItemKind, qrel_set: QrelSet, closed: Set[str]
) -> list[ItemText]:
    """Return the texts of rows with the columns source and, for Task 3, answer.

    `items` is the type of the ids in source, which runs have that are compared with the qrels.
    Nothing of the threads in `closed` is shown.
    """
    lab = qrel_set.task.lab
    corrections = corrections_of(lab)
    if items in _FORMULAS:
        return _formulas(rows["source"], items, qrel_set, closed, corrections)
    if items is ItemKind.ANSWERS:
        answers = rows["answer"] if "answer" in rows.columns else [""] * rows.height
        return [ItemText(_snippet(plain_html(answer or "", prefix=""))) for answer in answers]
    posts = posts_of(lab, rows["source"])
    return [_post(posts.get(item), item, lab, closed, corrections) for item in rows["source"]]


def _post(
    post: Post | None, item: str, lab: Lab, closed: Set[str], corrections: Corrections
) -> ItemText:
    if post is None or corrections.threads.get(post.post_id, post.thread_id) in closed:
        return ItemText()
    corrected = corrected_post(post, item, corrections)
    return ItemText(_snippet(corrected.safe_body if corrected else ""), post_url(lab.slug, item))


def _snippet(html: str) -> SafeString:
    return snippet_html(_parts(html))


@lru_cache(maxsize=KEPT)
def _parts(html: str) -> tuple[Part, ...]:
    """Return the parts of a snippet. Pages of rankings show the same posts again and again."""
    return tuple(joined(snippet(html, length=LENGTH)))


def _formulas(
    ids: pl.Series, items: ItemKind, qrel_set: QrelSet, closed: Set[str], corrections: Corrections
) -> list[ItemText]:
    lab, version = qrel_set.task.lab, qrel_set.visual_version
    collection = collection_of(lab)
    are_visual = items is ItemKind.VISUAL_IDS
    formulas = (
        formulas_shown(collection, ids, are_visual=are_visual, version=version)
        if collection
        else {}
    )
    return [_formula(formulas.get(formula_id), lab, closed, corrections) for formula_id in ids]


def _formula(
    formula: FormulaShown | None, lab: Lab, closed: Set[str], corrections: Corrections
) -> ItemText:
    if formula is None or formula.thread_id in closed:
        return ItemText()
    html = render_formula(corrections.formulas.get(formula.latex, formula.latex))
    page = post_url(lab.slug, formula.post_id).partition("#")[0]
    name = formula.formula_id
    url = f"{page}?{urlencode({'formula': name})}#formula-{quote(name)}"
    return ItemText(SafeString(html), url)


def ranking_of(run: Run, *, qrel_set: QrelSet, query_id: str) -> pl.DataFrame:
    """Return the run's items for a topic in the order in which measures read them.

    Columns: order, item (as in the qrels), source (the id in the run file), post, rank, score, for
    Task 3 answer, and label (null if unjudged).
    """
    judged = topic_frame(qrel_set, query_id)
    ranking = _ranking(run, qrel_set, query_id, judged)
    return ranking.join(judged, on=["topic", "item"], how="left", maintain_order="left")


def relevant_items(qrel_set: QrelSet, query_id: str) -> pl.DataFrame:
    """Return the relevant items of a topic, highest label first: topic, item, label, source."""
    judged = topic_frame(qrel_set, query_id).with_columns(source="item")
    relevant = judged.filter(pl.col("label") >= qrel_set.relevant_from)
    return relevant.sort("label", descending=True, maintain_order=True)


def relevant_found(runs: Sequence[Run], *, qrel_set: QrelSet, query_id: str) -> pl.DataFrame:
    """Return which runs found the relevant items of a topic: item, run (its key), order.

    The result is cached: neither qrels nor the index of a run ever change.
    """
    key = key_of("relevant-found", qrels_rules(qrel_set), query_id, item_facts(runs, qrel_set))

    def compute() -> pl.DataFrame:
        judged = topic_frame(qrel_set, query_id)
        relevant = relevant_items(qrel_set, query_id)
        parts = [
            _ranking(run, qrel_set, query_id, judged)
            .join(relevant, on="item", how="semi")
            .select("item", pl.lit(run.pk, pl.Int64).alias("run"), "order")
            for run in runs
        ]
        return pl.concat([pl.DataFrame(schema=_FOUND), *parts])

    # Only the rows of the topic are read.
    return cached_value(key, compute, work=OPENING * len(runs), seconds=None)


@dataclass(frozen=True)
class RelevantItems:
    """The relevant items of a topic, highest label first, and which runs found them.

    - judged: the labels of the topic.
    - items, kind: as of `relevant_items`, and what their ids are.
    - retrieved: as of `relevant_found`.
    """

    judged: list[JudgedTopic]
    items: pl.DataFrame
    kind: ItemKind
    retrieved: pl.DataFrame

    def finders_of(self, items: Sequence[str]) -> dict[str, tuple[int, list[int], list[int]]]:
        """Return for each of some items how many runs found it, and the first with their ranks."""
        here = self.retrieved.filter(pl.col("item").is_in(items)).sort("order", "run")
        first = here.group_by("item").agg(pl.len(), pl.col("run", "order").head(FEW_FINDERS))
        return {item: (count, runs, orders) for item, count, runs, orders in first.iter_rows()}


def relevant_with_finders(
    visible: VisibleBoard, query_id: str, *, runs: Collection[int]
) -> RelevantItems:
    """Return the relevant items of a topic of a board, and which of some runs (keys) found them."""
    qrel_set = visible.qrel_set
    stored = Run.objects.filter(pk__in=runs).order_by("pk")
    recorded = with_recorded_answers(stored, qrel_set, visible.board.release)
    return RelevantItems(
        version_topics(qrel_set, query_id=query_id),
        relevant_items(qrel_set, query_id),
        ItemKind(qrel_set.items),
        relevant_found(recorded, qrel_set=qrel_set, query_id=query_id),
    )


def board_topic(visible: VisibleBoard, query_id: str) -> Topic | None:
    """Return a topic of a board as it was released, or None if the task lacks it."""
    return board_topics(visible.qrel_set.task, visible.board.release).get(query_id)


def _ranking(run: Run, qrel_set: QrelSet, query_id: str, judged: pl.DataFrame) -> pl.DataFrame:
    columns = (*_COLUMNS, "answer") if qrel_set.items == ItemKind.ANSWERS else _COLUMNS
    scan = ordered_index(run, order=qrel_set.task.protocol.order, columns=columns)
    index = scan.filter(pl.col("topic") == query_id).with_columns(source="item").collect()
    mapping = None
    if qrel_set.items == ItemKind.VISUAL_IDS != run_items(run, qrel_set.task):
        lab, version = qrel_set.task.lab, qrel_set.visual_version
        mapping = visual_ids_among(lab, index["item"], version)
    return comparable_items(index, run, qrel_set=qrel_set, judged=judged, mapping=mapping)
