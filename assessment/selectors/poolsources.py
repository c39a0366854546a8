"""What a task's pool is made of: its valid runs, the visual ids of its formulas, and what the protocol lets in beside."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import polars as pl
from django.db.models import Q

from arqlab.core.errors import UserError
from arqlab.core.models import Task, Topic
from arqlab.ir.pooling import PooledRun, PoolSources
from arqlab.ir.protocols import PoolProtocol, RunKind
from arqlab.ir.records import ItemKind, TaskKind
from arqlab.ir.scoring import NOT_JUDGMENTS
from arqlab.ir.topicthreads import threads_of
from assessment.models import Judgment, PoolInstance
from assessment.selectors.qrels import qrels_frame, qrels_named
from collection.models import Collection, Post, PostLink, VisualMap
from collection.selectors import collection_of, newest_map, scan_columns
from submissions.models import Run
from submissions.selectors import items_of, ordered_index, run_index

ITEM = {"topic": pl.String, "item": pl.String}
INDEX = {"topic": pl.String, "item": pl.String, "post": pl.String, "order": pl.Int32}
POOL_KINDS = {
    TaskKind.ANSWERS: ItemKind.POSTS,
    TaskKind.FORMULAS: ItemKind.VISUAL_IDS,
    TaskKind.WRITTEN_ANSWERS: ItemKind.ANSWERS,
}
"""What the assessors of a task get of its runs."""


@dataclass(frozen=True)
class PoolChoice:
    """What an organizer chooses of a pool: its protocol, the seed, and as what some baselines are pooled.

    `kinds` has the keys of the runs that are pooled as something else than their marks say.
    """

    protocol: PoolProtocol
    seed: int
    kinds: Mapping[int, RunKind] = field(default_factory=dict)

    def kind_of(self, run: Run) -> RunKind:
        """Say as what a run is pooled."""
        known = self.kinds.get(run.pk)
        return known or self.protocol.kind_of(
            is_primary=run.is_primary, is_manual=run.is_manual, is_baseline=run.is_baseline
        )


@dataclass(frozen=True)
class TaskSources:
    """What a task's pool is made of: the kernel's sources without the runs' indexes, and where they are from.

    A run's name there is its key. `left_out` are valid runs that cannot be pooled, each with a sentence why.
    `texts` has the written answers by topic and item, `written` the runs of Task 3 that brought them into Task 1's pool.
    """

    kernel: PoolSources
    runs: tuple[Run, ...]
    left_out: tuple[tuple[Run, str], ...] = ()
    visual_map: VisualMap | None = None
    texts: Mapping[tuple[str, str], str] = field(default_factory=dict)
    written: tuple[Run, ...] = ()


def pool_sources(task: Task, choice: PoolChoice) -> TaskSources:
    """Give what a task's pool is made of, but for the indexes of its runs (`with_indexes`).

    Raises `UserError` when two runs bring one written answer with different texts.
    """
    protocol, collection = choice.protocol, collection_of(task.lab)
    runs, left_out = _pooled(task)
    is_formulas, is_answers = task.kind == Task.Kind.FORMULAS, task.kind == Task.Kind.ANSWERS
    answering = runs if task.kind == Task.Kind.WRITTEN_ANSWERS else []
    if is_answers and protocol.holds_written_answers:
        answering = _valid_runs(Task.objects.filter(lab=task.lab, kind=Task.Kind.WRITTEN_ANSWERS))
    texts = _written_answers(answering, task)
    kernel = PoolSources(
        runs=[_without_index(run, choice) for run in runs],
        relevant=_relevant_posts(task) if is_formulas and protocol.extra_depth else None,
        answers=_thread_answers(task, collection) if is_answers and protocol.extra_threads and collection else None,
        written=_items(texts) if is_answers and texts else None,
        earlier=pooled_before(task),
    )
    return TaskSources(
        kernel,
        runs=tuple(runs),
        left_out=tuple(left_out),
        visual_map=newest_map(collection) if collection and is_formulas else None,
        texts=texts,
        written=tuple(answering) if is_answers else (),
    )


def with_indexes(sources: TaskSources, task: Task) -> PoolSources:
    """Open the indexes of the runs; for formulas their visual ids, and from the formula index their posts and threads.

    A formula's post is the one that the collection's index gives, else the one that the run names: teams have been wrong
    about posts (000, footnote 16).
    """
    indexes: list[pl.LazyFrame] = [_index_of(run, task) for run in sources.runs]
    visual = threads = None
    collection = collection_of(task.lab) if task.kind == Task.Kind.FORMULAS else None
    if sources.visual_map:
        visual = scan_columns(sources.visual_map.mapping)
    if indexes and collection and collection.formulas_index:
        known = _known_formulas(collection, indexes)
        indexes = [_with_known_posts(index, known) for index in indexes]
        threads = known.select(post="post_id", thread="thread_id").unique()
    runs = [replace(run, index=index) for run, index in zip(sources.kernel.runs, indexes, strict=True)]
    return replace(sources.kernel, runs=runs, visual=visual, threads=threads)


def pooled_before(task: Task) -> pl.DataFrame | None:
    """Give what the task's pools hold: topic, item, doc_id; None before the first one."""
    rows = PoolInstance.objects.filter(item__pool__task=task)
    found = list(rows.order_by().values_list("item__topic__query_id", "item__item", "doc_id"))
    return pl.DataFrame(found, schema={**ITEM, "doc_id": pl.String}, orient="row") if found else None


def _pooled(task: Task) -> tuple[list[Run], list[tuple[Run, str]]]:
    runs, left_out = [], []
    for run in _valid_runs(Task.objects.filter(pk=task.pk)):
        if task.kind == Task.Kind.FORMULAS and items_of(run, task) == ItemKind.VISUAL_IDS:
            left_out.append((run, "It names visual ids, and assessors judge instances in their posts."))
        else:
            runs.append(run)
    return runs, left_out


def _valid_runs(tasks: Iterable[Task]) -> list[Run]:
    found = Run.objects.valid().filter(task__in=tasks).select_related("team")
    return list(found.order_by("-is_baseline", "team__name", "-is_primary", "tag", "pk"))


def _without_index(run: Run, choice: PoolChoice) -> PooledRun:
    return PooledRun(str(run.pk), run.team.name, choice.kind_of(run), pl.DataFrame(schema=INDEX))


def _index_of(run: Run, task: Task) -> pl.LazyFrame:
    index = ordered_index(run, order=task.protocol.order, columns=["topic", "item", "post"])
    if task.kind == Task.Kind.WRITTEN_ANSWERS:
        return index.with_columns(item=pl.format("{}:{}", pl.lit(run.tag), "topic"))
    return index


def _known_formulas(collection: Collection, indexes: Sequence[pl.LazyFrame]) -> pl.DataFrame:
    wanted = pl.concat([index.select(formula_id="item") for index in indexes]).unique()
    known = scan_columns(collection.formulas_index).select("formula_id", "post_id", "thread_id")
    return known.join(wanted, on="formula_id", how="semi").unique("formula_id", keep="any").collect()


def _with_known_posts(index: pl.LazyFrame, known: pl.DataFrame) -> pl.LazyFrame:
    posts = known.lazy().select(item="formula_id", known="post_id")
    joined = index.join(posts, on="item", how="left", maintain_order="left")
    return joined.with_columns(post=pl.coalesce("known", "post")).drop("known")


def _written_answers(runs: Sequence[Run], task: Task) -> dict[tuple[str, str], str]:
    """Give the written answers of runs to the topics of a task by topic and item, RUN:TOPIC.

    Raises `UserError` that names two runs which bring one item with different texts.
    """
    topics = set(Topic.objects.filter(task=task).values_list("query_id", flat=True)) if runs else set()
    texts: dict[tuple[str, str], str] = {}
    brought: dict[tuple[str, str], Run] = {}
    for run in runs:
        for topic, answer in run_index(run, columns=["topic", "answer"]).rows():
            key = (topic, f"{run.tag}:{topic}")
            if topic in topics and texts.setdefault(key, answer) != answer:
                raise UserError(
                    f"The runs {brought[key]} and {run} both answer {topic} as {key[1]}, with different texts. "
                    "Withdraw one of them, or have it submitted again under another tag.",
                    code="same-answer-twice",
                )
            brought.setdefault(key, run)
    return {key: text for key, text in texts.items() if key[0] in topics}


def _items(keys: Iterable[tuple[str, str]]) -> pl.DataFrame:
    return pl.DataFrame(sorted(keys), schema=ITEM, orient="row")


def _thread_answers(task: Task, collection: Collection) -> pl.DataFrame:
    """Give the answers in the topics' own threads and in their duplicates that the collection holds: topic, item."""
    topics = dict(task.topics.exclude(thread_id="").values_list("query_id", "thread_id"))
    own = set(topics.values())
    links = PostLink.objects.filter(collection=collection, kind=PostLink.Kind.DUPLICATE)
    threads: dict[str, set[str]] = {thread: {thread} for thread in own}
    # Whichever of the two was marked as the duplicate of the other.
    for one, other in links.filter(Q(post_id__in=own) | Q(related_id__in=own)).values_list("post_id", "related_id"):
        threads.setdefault(one, set()).add(other)
        threads.setdefault(other, set()).add(one)
    wanted = {thread for mine in own for thread in threads[mine]}
    answers: dict[str, list[str]] = defaultdict(list)
    posts = Post.objects.filter(collection=collection, kind=Post.Kind.ANSWER, thread_id__in=wanted)
    for thread, post in posts.values_list("thread_id", "post_id"):
        answers[thread].append(post)
    return _items(
        (topic, post) for topic, mine in topics.items() for thread in threads[mine] for post in answers[thread]
    )


def _relevant_posts(task: Task) -> pl.DataFrame:
    """Give the posts that were judged relevant for the Task 1 topics of the same numbers, under this task's topics.

    They are those of the current qrels, before the first qrels those of the judgments as they stand.
    """
    schema = {"topic": pl.String, "post": pl.String}
    first = Task.objects.filter(lab=task.lab, kind=Task.Kind.ANSWERS).select_related("lab").first()
    if first is None:
        return pl.DataFrame(schema=schema)
    if qrels := qrels_named(first):
        labels, lowest = qrels_frame(qrels), qrels.relevant_from
    else:
        labels, lowest = _current_labels(first), first.protocol.relevant_from
    judged = (pl.col("label") >= lowest) & ~pl.col("label").is_in(NOT_JUDGMENTS)
    relevant = labels.filter(judged).rename({"topic": "first", "item": "post"})
    own = threads_of(task.topics.values_list("query_id", flat=True), {topic: topic for topic in relevant["first"]})
    names = pl.DataFrame(list(own.items()), schema={"topic": pl.String, "first": pl.String}, orient="row")
    return names.join(relevant, on="first").select(*schema).unique()


def _current_labels(task: Task) -> pl.DataFrame:
    judged = Judgment.objects.filter(is_current=True, instance__item__pool__task=task)
    rows = list(judged.order_by().values_list("instance__item__topic__query_id", "instance__doc_id", "label"))
    return pl.DataFrame(rows, schema={**ITEM, "label": pl.Int8}, orient="row")
