"""The search page: systems that answer a query at once, with the posts that each finds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from html import escape
from importlib import import_module
from typing import Any, NamedTuple

import polars as pl
from django.utils.safestring import SafeString

from arqkit.records import TaskKind, TopicRecord
from arqkit.retrieval.mathml import query_mathml
from arqkit.retrieval.words import BM25_SETTINGS, WordIndex
from arqkit.texts.posts.queries import STOP_WORDS
from arqkit.texts.posts.snippets import joined, marked, snippet
from arqkit.texts.posts.text import pieces, text_formulas, words
from arqlab.core.models import Job, Lab, Task, User
from arqlab.core.services.jobs import RunningJob, start_job
from collection.models import Post
from collection.permissions import closed_threads
from collection.selectors.formulas import thread_questions
from collection.services.lookup import snippet_html
from retrieval.selectors import Sources, hidden_threads
from retrieval.services import word_search
from retrieval.services.formula_topics import INSTANCES
from retrieval.services.indexes import Progress, index_folder
from retrieval.services.systems import SYSTEMS

KIND = "search-index"
HITS = 10
"""Posts that a system shows."""
READ = 50
"""Posts that are read for them, because some may be in threads that are closed to the user."""
SHORTEST = 3
"""Characters of LaTeX of a formula that is worth a search."""
BM25 = asdict(BM25_SETTINGS)


@dataclass(frozen=True)
class LiveSystem:
    """A system that answers at once: its key in `SYSTEMS`, its index, and what it does.

    `search` returns a frame of item (a post), score and formula_id ("" without one), best first.
    """

    key: str
    name: Callable[[Sources], str]
    options: Callable[[], Mapping[str, Any]]
    build: Callable[[Sources, Progress], object]
    search: Callable[[Sources, Any, str], pl.DataFrame]


class Found(NamedTuple):
    """A post that a system found, and formulas in it to search for, the best match first."""

    post: Post
    score: float
    title: SafeString
    text: SafeString
    formula_id: str
    formulas: list[str]


@dataclass
class Side:
    """The results of one system; `lacks` says why it cannot answer."""

    name: str
    description: str
    found: list[Found] = field(default_factory=list)
    lacks: str = ""
    is_built: bool = True


def query_html(text: str) -> str:
    """Return what a user wrote, with formulas between dollar signs, as the HTML of a post."""
    parts = text.split("$")
    span = '<span class="math-container">${}$</span>'
    whole = len(parts) - (len(parts) + 1) % 2  # without its closing sign, a rest is text
    return "".join(
        span.format(escape(part)) if place % 2 and place < whole else escape(part)
        for place, part in enumerate(parts)
    )


def searched_task(lab: Lab) -> Task | None:
    """Return the first task of a lab that retrieves posts, else its first task, if any."""
    tasks = list(lab.tasks.all())
    kinds = (TaskKind.ANSWERS, TaskKind.DOCUMENTS)
    of_posts = (task for task in tasks if TaskKind(task.kind) in kinds)
    return next(of_posts, next(iter(tasks), None))


def search_all(sources: Sources, text: str, user: User) -> list[Side]:
    """Return the results of every system for a query, without threads that the user may not see."""
    html = query_html(text) if text else ""
    return [_side(live, sources, html, user) for live in LIVE]


def order_indexes(*, task: Task, at: datetime, by: User) -> Job:
    """Store a job that builds the indexes of a task's collection; the caller queues it."""
    return start_job(job=Job(kind=KIND, key=str(task.pk)), place=task, at=at, by=by)


def build_for_job(job: RunningJob) -> list[str]:
    """Build the indexes that the search page needs and that the server can build."""
    sources = Sources(job.task)
    open_systems = [live for live in LIVE if not _refusal(live, sources)]
    for live in open_systems:
        live.build(sources, job.progress)
    return [f"Built: {', '.join(SYSTEMS[live.key].name for live in open_systems)}."]


def _refusal(live: LiveSystem, sources: Sources) -> str:
    needs = SYSTEMS[live.key].needs[1:]  # a search needs no topics
    if TaskKind(sources.task.kind) not in SYSTEMS[live.key].kinds:
        return "This system does not serve the tasks of the lab."
    return next(filter(None, (need(sources) for need in needs)), "")


def _side(live: LiveSystem, sources: Sources, html: str, user: User) -> Side:
    system = SYSTEMS[live.key]
    side = Side(system.name, system.description, lacks=_refusal(live, sources))
    if side.lacks:
        return side
    folder = index_folder(sources, name=live.name(sources), options=live.options())
    side.is_built = folder.exists()
    if side.is_built and html:
        side.found = _found(sources, live.search(sources, folder, html), html, user)
    return side


def _found(sources: Sources, ranked: pl.DataFrame, html: str, user: User) -> list[Found]:
    collection = sources.collection
    if collection is None:
        return []
    best = ranked.head(READ)
    closed = closed_threads(user, collection) | hidden_threads(user, sources.task.lab)
    posts = Post.objects.filter(collection=collection, post_id__in=best["item"].to_list())
    by_id = {post.post_id: post for post in posts.exclude(thread_id__in=closed)}
    shown = best.filter(pl.col("item").is_in(list(by_id))).head(HITS).to_dicts()
    asked = thread_questions(collection, {by_id[row["item"]].thread_id for row in shown})
    return [_shown(by_id[row["item"]], asked, row, html) for row in shown]


def _shown(post: Post, asked: Mapping[str, Post], row: Mapping[str, Any], html: str) -> Found:
    texts = (piece for piece in pieces(html) if isinstance(piece, str))
    terms = {word for text in texts for word in words(text)} - STOP_WORDS
    formula_id = row["formula_id"]
    ids = [formula_id] if formula_id else []
    latex = sorted(text_formulas(post.safe_body), key=lambda f: f.formula_id != formula_id)
    title = marked(asked.get(post.thread_id, post).safe_title, terms=terms)
    queries = [formula.latex for formula in text_formulas(html)]
    return Found(
        post,
        row["score"],
        snippet_html(joined(list(title))),
        snippet_html(
            joined(snippet(post.safe_body, terms=() if ids else terms, formulas=ids)),
            found=lambda latex: _formula_search().matched_formula(latex, queries),
        ),
        formula_id,
        list(dict.fromkeys(f.latex for f in latex if len(f.latex) >= SHORTEST))[:3],
    )


def _by_words(sources: Sources, folder: Any, html: str) -> pl.DataFrame:
    ranked = WordIndex.open(folder).search([TopicRecord("q", "", html)], limit=READ)
    return ranked.with_columns(pl.lit("").alias("formula_id"))


def _formula_search() -> Any:
    """Return the module, which loads a large package when it is first needed."""
    return import_module("retrieval.services.formula_search")


def _by_formulas(sources: Sources, folder: Any, html: str) -> pl.DataFrame:
    """Return the posts with the highest sum of the best scores for each formula of the query."""
    module = _formula_search()
    index = module.opened_index(folder)
    converted = [query_mathml(formula.latex) for formula in text_formulas(html)]
    queries = [module.FormulaQuery(str(place), m) for place, m in enumerate(converted) if m]
    found = index.search(queries, depth=INSTANCES).rename({"item": "formula_id"})
    found = found.join(sources.answers_with(found["formula_id"].unique()), on="formula_id")
    best = found.sort("score", "formula_id", descending=[True, False]).unique(
        ["topic", "post_id"], keep="first", maintain_order=True
    )
    posts = best.group_by("post_id", maintain_order=True).agg(
        pl.col("score").sum(), pl.col("formula_id").first()
    )
    ranked: pl.DataFrame = posts.rename({"post_id": "item"})
    return ranked.sort("score", "item", descending=[True, False])


LIVE = (
    LiveSystem(
        "bm25",
        word_search.words_name,
        lambda: BM25,
        lambda sources, progress: word_search.build_words(sources, BM25, progress),
        _by_words,
    ),
    LiveSystem(
        "tangent-s",
        lambda sources: _formula_search().NAME,
        lambda: _formula_search().OPTIONS,
        lambda sources, progress: _formula_search().build_formulas(sources, progress),
        _by_formulas,
    ),
)
"""The systems of the page, side by side in this order."""
