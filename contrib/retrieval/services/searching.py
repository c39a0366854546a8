"""The search page: systems that answer a query at once, with the posts that each finds."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import polars as pl
from django.utils.safestring import SafeString

from arqkit.records import TaskKind, TopicRecord
from arqkit.retrieval.mathml import query_mathml
from arqkit.retrieval.rankings import RANKING
from arqkit.retrieval.words import BM25_SETTINGS, WordIndex
from arqkit.texts.posts.queries import STOP_WORDS
from arqkit.texts.posts.snippets import joined, marked, snippet
from arqkit.texts.posts.text import pieces, text_formulas, words
from arqkit.texts.posts.typed import typed_html, without_wildcards
from arqlab.core.errors import UserError
from arqlab.core.models import Job, Lab, Task, User
from arqlab.jobs.services.jobs import RunningJob, start_job
from collection.models import Collection, Post
from collection.permissions import closed_threads
from collection.selectors.formulas import thread_questions
from collection.services.lookup import snippet_html
from contrib.retrieval.selectors import Sources, hidden_threads
from contrib.retrieval.services import word_search
from contrib.retrieval.services.formula_topics import INSTANCES
from contrib.retrieval.services.indexes import (
    Progress,
    equations_index,
    has_earlier_version,
    index_folder,
)
from contrib.retrieval.services.systems import SYSTEMS, needs_topics

KIND = "search-index"
HITS = 10
"""Posts that a system shows."""
READ = 50
"""Posts that are read for them, because some may be in threads that are closed to the user."""
IN_PANE = 5
"""Posts that a system shows beside an item that is judged."""
NOT_BUILT = "Its index has not been built yet."
EARLIER = "Its index was built by another version of ArqLab. Build it again."
NOT_LEARNT = "It learns from the collection for about an hour; its index comes with its baseline."
SHORTEST = 3
"""Characters of LaTeX of a formula that is worth a search."""
BM25 = asdict(BM25_SETTINGS)
Index = tuple[str, Mapping[str, object]]
"""The name of an index and its options."""


@dataclass(frozen=True)
class LiveSystem:
    """A system that answers at once: its key in `SYSTEMS`, its index, and what it does.

    `build` is None for a system that learns for too long; its baseline makes its index. `search`
    gets the folder of the index and a query in HTML. It returns a frame of item (a post), score
    and formula_id ("" without one), best first.
    """

    key: str
    index: Callable[[Sources], Index]
    build: Callable[[Sources, Progress], object] | None
    search: Callable[[Sources, Path, str], pl.DataFrame]


class Found(NamedTuple):
    """A post that a system found, and formulas in it to search for, the best match first."""

    post: Post
    score: float
    title: SafeString
    text: SafeString
    formula_id: str
    latex: str
    formulas: list[str]


@dataclass
class Side:
    """The results of one system; `lacks` says why it cannot answer."""

    key: str
    name: str
    description: str
    lacks: str = ""
    can_build: bool = False
    found: list[Found] = field(default_factory=list)


def searched_task(lab: Lab) -> Task | None:
    """Return the first task of a lab that retrieves posts, else its first task, if any."""
    tasks = list(lab.tasks.all())
    kinds = (TaskKind.ANSWERS, TaskKind.DOCUMENTS)
    of_posts = (task for task in tasks if TaskKind(task.kind) in kinds)
    return next(of_posts, next(iter(tasks), None))


def search_all(sources: Sources, text: str, user: User, most: int) -> list[Side]:
    """Return at most so many results of every system for a query, without threads that the user
    may not see.
    """
    sides = [_side(live, sources) for live in LIVE]
    if not text or sources.collection is None:
        return sides
    html, lab = typed_html(text), sources.task.lab
    hidden = closed_threads(user, sources.collection) | hidden_threads(user, lab)
    for live, side in zip(LIVE, sides, strict=True):
        if not side.lacks:
            try:
                ranked = live.search(sources, _folder(live, sources), html)
                side.found = _best_posts(sources.collection, ranked, html, hidden, most)
            except UserError as error:
                side.lacks = error.message
    return sides


def order_indexes(*, task: Task, at: datetime, by: User) -> Job:
    """Store a job that builds the indexes of a task's collection; the caller queues it."""
    return start_job(job=Job(kind=KIND, key=str(task.pk)), place=task, at=at, by=by)


def build_for_job(job: RunningJob) -> list[str]:
    """Build the indexes that the search page needs and that the server can build."""
    sources = Sources(job.task)
    built = []
    for live in LIVE:
        if live.build and not _refusal(live, sources):
            live.build(sources, job.progress)
            built.append(SYSTEMS[live.key].name)
    return [f"Built: {', '.join(built)}."]


def _refusal(live: LiveSystem, sources: Sources) -> str:
    needs = (need for need in SYSTEMS[live.key].needs if need is not needs_topics)
    if TaskKind(sources.task.kind) not in SYSTEMS[live.key].kinds:
        return "This system does not serve the tasks of the lab."
    return next(filter(None, (need(sources) for need in needs)), "")


def _folder(live: LiveSystem, sources: Sources) -> Path:
    name, options = live.index(sources)
    return index_folder(sources, name=name, options=options)


def _side(live: LiveSystem, sources: Sources) -> Side:
    system = SYSTEMS[live.key]
    side = Side(system.key, system.name, system.description, _refusal(live, sources))
    if not side.lacks and not _folder(live, sources).exists():
        side.can_build = live.build is not None
        name, options = live.index(sources)
        is_earlier = has_earlier_version(sources, name=name, options=options)
        not_built = EARLIER if is_earlier else NOT_BUILT
        side.lacks = not_built if side.can_build else NOT_LEARNT
    return side


def _best_posts(
    collection: Collection, ranked: pl.DataFrame, html: str, hidden: frozenset[str], most: int
) -> list[Found]:
    best = ranked.head(READ)
    posts = Post.objects.filter(collection=collection, post_id__in=best["item"].to_list())
    by_id = {post.post_id: post for post in posts.exclude(thread_id__in=hidden)}
    visible = best.filter(pl.col("item").is_in(list(by_id))).head(most).to_dicts()
    questions = thread_questions(collection, {by_id[row["item"]].thread_id for row in visible})
    return [_excerpt(by_id[row["item"]], questions, row, html) for row in visible]


def _excerpt(post: Post, questions: Mapping[str, Post], row: Mapping[str, Any], html: str) -> Found:
    texts = (piece for piece in pieces(html) if isinstance(piece, str))
    terms = {word for text in texts for word in words(text)} - STOP_WORDS
    formula_id = row["formula_id"]
    ids = [formula_id] if formula_id else []
    latex = sorted(text_formulas(post.safe_body), key=lambda f: f.formula_id != formula_id)
    title = marked(questions.get(post.thread_id, post).safe_title, terms=terms)
    queries = [formula.latex for formula in text_formulas(html)]
    return Found(
        post,
        row["score"],
        snippet_html(joined(list(title))),
        snippet_html(
            joined(snippet(post.safe_body, terms=() if ids else terms, formulas=ids)),
            match_html=lambda latex: _module("formula_search").matched_formula(latex, queries),
        ),
        formula_id,
        next((f.latex for f in latex if formula_id and f.formula_id == formula_id), ""),
        list(dict.fromkeys(f.latex for f in latex if len(f.latex) >= SHORTEST))[:3],
    )


def _module(name: str) -> ModuleType:
    """Return a module of services, which loads large packages when it is first needed."""
    return import_module(f"contrib.retrieval.services.{name}")


def _by_words(sources: Sources, folder: Path, html: str) -> pl.DataFrame:
    topics = [TopicRecord("q", "", without_wildcards(html))]
    ranked = WordIndex.open(folder).search(topics, limit=READ)
    return ranked.with_columns(pl.lit("").alias("formula_id"))


def _by_vectors(sources: Sources, folder: Path, html: str) -> pl.DataFrame:
    topics = [TopicRecord("q", "", without_wildcards(html))]
    ranked: pl.DataFrame = _module("dense_search").nearest_posts(folder, topics, limit=READ)
    return ranked.with_columns(pl.lit("").alias("formula_id"))


def _by_trees(sources: Sources, folder: Path, html: str) -> pl.DataFrame:
    module = _module("formula_search")
    converted = [query_mathml(formula.latex) for formula in text_formulas(html)]
    queries = [module.FormulaQuery(str(place), m) for place, m in enumerate(converted) if m]
    return _posts_with(sources, module.opened_index(folder).search(queries, depth=INSTANCES))


def _by_equations(sources: Sources, folder: Path, html: str) -> pl.DataFrame:
    index = _module("equation_search").opened_equations(folder)
    queries = enumerate(formula.latex for formula in text_formulas(without_wildcards(html)))
    rankings = [index.search(str(place), latex, INSTANCES) for place, latex in queries]
    return _posts_with(sources, pl.concat([pl.DataFrame(schema=RANKING), *rankings]))


def _posts_with(sources: Sources, formulas: pl.DataFrame) -> pl.DataFrame:
    """Return the posts with the highest sum of the best scores for each formula of the query."""
    posts = sources.answers_with(formulas["item"].unique())
    scored = formulas.rename({"item": "formula_id"}).join(posts, on="formula_id")
    best = scored.sort("score", "formula_id", descending=[True, False]).unique(
        ["topic", "post_id"], keep="first", maintain_order=True
    )
    summed = best.group_by("post_id", maintain_order=True).agg(
        pl.col("score").sum(), pl.col("formula_id").first()
    )
    return summed.rename({"post_id": "item"}).sort("score", "item", descending=[True, False])


LIVE = (
    LiveSystem(
        "bm25",
        lambda sources: (word_search.words_name(sources), BM25),
        lambda sources, progress: word_search.build_words(sources, BM25, progress),
        _by_words,
    ),
    LiveSystem(
        "dense",
        lambda sources: (
            _module("dense_search").vectors_name(sources),
            _module("dense_search").OPTIONS,
        ),
        lambda sources, progress: _module("dense_search").build_vectors(sources, progress),
        _by_vectors,
    ),
    LiveSystem(
        "tangent-s",
        lambda sources: (_module("formula_search").NAME, _module("formula_search").OPTIONS),
        lambda sources, progress: _module("formula_search").build_formulas(sources, progress),
        _by_trees,
    ),
    LiveSystem(
        "equations",
        lambda sources: equations_index(SYSTEMS["equations"].settings),
        None,
        _by_equations,
    ),
)
"""The systems of the page, side by side in this order."""
