"""The sources of a task's pool: valid runs, visual ids, and the protocol's extra items."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

import polars as pl
from django.db.models import Max, Q

from arqkit.formats.topics.files import threads_of
from arqkit.formulas.visual_ids import as_formulas
from arqkit.judgments.qrels import Level
from arqkit.pooling.pools import PooledRun, PoolSources
from arqlab.core.caches import cached_value, key_of
from arqlab.core.errors import UserError
from arqlab.core.models import Task
from arqlab.labs.selectors import topic_ids
from assessment.models import Pool, PoolInstance
from assessment.pools.selectors.choices import PoolChoice, mixed_tasks, poolable_runs
from assessment.qrels.selectors.drafts import draft_of
from assessment.qrels.selectors.frames import (
    adjudicated_judgments,
    official_judgments,
    read_frame,
    second_judgments,
)
from assessment.qrels.selectors.versions import judged_frame, qrels_named
from collection.models import Collection, Import, Post, PostLink, VisualMap
from collection.selectors.collections import collection_of, scan_columns, visual_ids_among
from collection.selectors.visual_maps import newest_map
from submissions.models import Run
from submissions.selectors import ordered_index, run_index

_FIELDS = {"topic": "item__topic__query_id", "item": "item__item", "doc_id": "doc_id"}

ITEM = {"topic": pl.String, "item": pl.String}


def pooled_before(task: Task, *, newest: VisualMap | None) -> pl.DataFrame | None:
    """Return topic, item and doc_id of the instances in the task's pools, or None without pools.

    The item is null for an instance that has another visual id now. After a split, which keeps the
    id on the larger part, no instance of the pooled formula may be left in the pools.
    """
    pools = Pool.official.filter(task=task)
    rows = PoolInstance.official.filter(item__pool__task=task).order_by()
    earlier = cached_value(
        key_of("pooled", *pools.order_by("pk").values_list("pk", "sha256")),
        lambda: read_frame(rows.values_list(*_FIELDS.values()), dict.fromkeys(_FIELDS, pl.String)),
        work=0,
    )
    if earlier.is_empty():
        return None
    is_other = newest and pools.exclude(visual_map=newest).exists()
    ids = visual_ids_among(task.lab, earlier["doc_id"]) if is_other else None
    if ids is None:
        return earlier
    current_ids = as_formulas(earlier, ids)["item"]
    return earlier.with_columns(item=pl.when(pl.col("item") == current_ids).then("item"))


@dataclass(frozen=True)
class TaskSources:
    """The sources of a task's pool.

    `left_out` has the valid runs that cannot be pooled, each with the reason; `written` has the
    Task 3 runs whose answers are mixed into Task 1's pool. In the kernel's sources, a run's name is
    its key.
    """

    task: Task
    choice: PoolChoice
    collection: Collection | None
    runs: tuple[Run, ...]
    visual_map: VisualMap | None
    left_out: tuple[tuple[Run, str], ...] = ()
    written: tuple[Run, ...] = ()


def task_sources(task: Task, choice: PoolChoice) -> TaskSources:
    """Return the current sources of a pool of the task, without reading their files."""
    collection = collection_of(task.lab)
    runs, left_out = poolable_runs(task, choice)
    return TaskSources(
        task,
        choice,
        collection,
        runs=tuple(runs),
        left_out=tuple(left_out),
        written=tuple(
            run
            for mixed_task in mixed_tasks(task, choice.protocol)
            for run in poolable_runs(mixed_task, choice)[0]
        ),
        visual_map=task_map(task),
    )


def task_map(task: Task) -> VisualMap | None:
    """Return the newest version of the visual ids for a task with formulas, if there is one."""
    collection = collection_of(task.lab)
    return newest_map(collection) if collection and task.kind == Task.Kind.FORMULAS else None


def kernel_sources(sources: TaskSources, texts: Mapping[tuple[str, str], str]) -> PoolSources:
    """Return the sources as the kernel reads them; it reads the indexes lazily.

    `texts` is the result of `generated_answers`. Topics that were removed when the folder was
    loaded again are left out, even if older runs answer them. A formula's post comes from the
    collection's index, else from the run: teams have named wrong posts (000, footnote 16).
    """
    task, protocol, collection = sources.task, sources.choice.protocol, sources.collection
    # A series, because Polars looks up a list ten times as slowly while it scans a file.
    topics, threads = pl.Series(_pooled_topics(sources), dtype=pl.String).implode(), None
    indexes = [_index_of(run, task).filter(pl.col("topic").is_in(topics)) for run in sources.runs]
    is_formulas = task.kind == Task.Kind.FORMULAS
    if indexes and is_formulas and collection and collection.formulas_index:
        formulas = _known_formulas(collection, indexes)
        indexes = [_with_known_posts(index, formulas) for index in indexes]
        threads = formulas.select(post="post_id", thread="thread_id").unique()
    has_threads = task.kind == Task.Kind.ANSWERS and protocol.extra_threads
    return PoolSources(
        runs=[
            PooledRun(str(run.pk), run.team.name, sources.choice.kind_of(run), index)
            for run, index in zip(sources.runs, indexes, strict=True)
        ],
        visual=_visual_ids(sources) if is_formulas else None,
        threads=threads,
        relevant=_relevant_posts(task) if is_formulas and protocol.extra_depth else None,
        answers=_thread_answers(sources, collection) if has_threads and collection else None,
        written=_items(texts) if sources.written else None,
        earlier=pooled_before(task, newest=sources.visual_map),
    )


def _visual_ids(sources: TaskSources) -> pl.LazyFrame | None:
    """Return the newest visual ids, or those of the formula index if there is no version yet."""
    if sources.visual_map:
        return scan_columns(sources.visual_map.mapping)
    if sources.collection is None or not sources.collection.formulas_index:
        return None
    index = scan_columns(sources.collection.formulas_index)
    return index.select("formula_id", visual_id="given_visual_id").drop_nulls()


def inputs_of(sources: TaskSources, kernel: PoolSources) -> dict[str, str]:
    """Return the inputs of a pool apart from settings, runs and visual ids, for `Pool.inputs`.

    These are the pooling order, the SHA-256 of the collection's files if threads and posts are
    read from it (blank if they were imported by commands only), and that of the posts relevant in
    Task 1.
    """
    inputs: dict[str, str] = {"order": sources.task.protocol.pooling_order}
    if sources.collection and (kernel.threads is not None or kernel.answers is not None):
        inputs["collection"] = sources.collection.source_sha256
    if kernel.relevant is not None:
        inputs["relevant"] = sha256(
            kernel.relevant.sort("topic", "post").write_csv().encode()
        ).hexdigest()
    return inputs


def sources_state(sources: TaskSources) -> tuple[object, ...]:
    """Return a value that changes whenever the sources change, without reading them."""
    task, protocol = sources.task, sources.choice.protocol
    state: list[object] = [
        task.pk,
        task.protocol.pooling_order,
        sources.visual_map and sources.visual_map.pk,
    ]
    state += [(run.pk, run.index.name, run.team.name) for run in (*sources.runs, *sources.written)]
    state += _pooled_topics(sources)
    state += Pool.official.filter(task=task).order_by("number").values_list("sha256", flat=True)
    state += [
        protocol.extra_threads,
        protocol.includes_generated_answers,
        bool(protocol.extra_depth),
    ]
    if protocol.extra_threads or task.kind == Task.Kind.FORMULAS:
        state += (
            Import.objects.filter(collection=sources.collection)
            .aggregate(last=Max("updated_at"))
            .values()
        )
    first = _first_task(task) if protocol.extra_depth else None
    if first:
        qrels = qrels_named(first)
        state += [qrels.pk] if qrels else _last_labels(first)
    return tuple(state)


def _pooled_topics(sources: TaskSources) -> list[str]:
    """Return the topics of the task without those that the organizers leave out."""
    without = sources.choice.without_topics
    return [topic for topic in topic_ids(sources.task) if topic not in without]


def _index_of(run: Run, task: Task) -> pl.LazyFrame:
    index = ordered_index(run, order=task.protocol.pooling_order, columns=["topic", "item", "post"])
    if task.kind == Task.Kind.GENERATED_ANSWERS:
        return index.with_columns(item=pl.format("{}:{}", pl.lit(run.identifier), "topic"))
    return index


def _known_formulas(collection: Collection, indexes: Sequence[pl.LazyFrame]) -> pl.DataFrame:
    retrieved = pl.concat([index.select(formula_id="item") for index in indexes]).unique()
    formulas = scan_columns(collection.formulas_index).select("formula_id", "post_id", "thread_id")
    return (
        formulas.join(retrieved, on="formula_id", how="semi")
        .unique("formula_id", keep="any")
        .collect()
    )


def _with_known_posts(index: pl.LazyFrame, formulas: pl.DataFrame) -> pl.LazyFrame:
    posts = formulas.lazy().select(item="formula_id", known="post_id")
    joined = index.join(posts, on="item", how="left", maintain_order="left")
    return joined.with_columns(post=pl.coalesce("known", "post")).drop("known")


def generated_answers(sources: TaskSources) -> dict[tuple[str, str], str]:
    """Return the generated answers to the topics of the task by topic and item, RUN:TOPIC.

    Raises `UserError` if two runs contribute one item with different texts: runs of two tasks from
    before identifiers were unique among them.
    """
    task = sources.task
    runs = sources.runs if task.kind == Task.Kind.GENERATED_ANSWERS else sources.written
    topics = set(_pooled_topics(sources)) if runs else set()
    texts: dict[tuple[str, str], str] = {}
    brought: dict[tuple[str, str], Run] = {}
    for run in runs:
        for topic, answer in run_index(run, columns=["topic", "answer"]).rows():
            key = (topic, f"{run.identifier}:{topic}")
            if topic in topics and texts.setdefault(key, answer) != answer:
                raise UserError(
                    f"{brought[key]} and {run} of two tasks both answer {topic} as {key[1]}, with "
                    "different texts. Withdraw one of them and submit it again.",
                    code="same-answer-twice",
                )
            brought.setdefault(key, run)
    return texts


def _items(keys: Iterable[tuple[str, str]]) -> pl.DataFrame:
    return pl.DataFrame(sorted(keys), schema=ITEM, orient="row")


def _thread_answers(sources: TaskSources, collection: Collection) -> pl.DataFrame:
    """Return topic and item of the answers in the topics' threads and their duplicates."""
    pooled = sources.task.topics.filter(query_id__in=_pooled_topics(sources))
    topics = dict(pooled.exclude(thread_id="").values_list("query_id", "thread_id"))
    topic_threads = set(topics.values())
    links = PostLink.objects.filter(collection=collection, kind=PostLink.Kind.DUPLICATE)
    threads: dict[str, set[str]] = {thread: {thread} for thread in topic_threads}
    # Either of the two may be marked as the duplicate.
    for thread_id, other_id in links.filter(
        Q(post_id__in=topic_threads) | Q(related_id__in=topic_threads)
    ).values_list("post_id", "related_id"):
        threads.setdefault(thread_id, set()).add(other_id)
        threads.setdefault(other_id, set()).add(thread_id)
    thread_ids = {thread for mine in topic_threads for thread in threads[mine]}
    answers: dict[str, list[str]] = defaultdict(list)
    posts = Post.objects.filter(
        collection=collection, kind=Post.Kind.ANSWER, thread_id__in=thread_ids
    )
    for thread, post in posts.values_list("thread_id", "post_id"):
        answers[thread].append(post)
    return _items(
        (topic, post)
        for topic, mine in topics.items()
        for thread in threads[mine]
        for post in answers[thread]
    )


def _relevant_posts(task: Task) -> pl.DataFrame:
    """Return the posts relevant for the Task 1 topics with the same numbers, by this task's topics.

    They come from the current qrels, or from the current judgments if there are no qrels yet.
    """
    schema = {"topic": pl.String, "post": pl.String}
    first = _first_task(task)
    if first is None:
        return pl.DataFrame(schema=schema)
    if qrels := qrels_named(first):
        labels, lowest = judged_frame(qrels), qrels.relevant_from
    else:
        draft = draft_of(first)
        lowest = draft.relevant_from
        labels = draft.qrels(Level.INSTANCES, complete=False, with_dropped=True)
    relevant = labels.filter(pl.col("label") >= lowest).rename({"topic": "first", "item": "post"})
    first_topics = threads_of(
        task.topics.values_list("query_id", flat=True),
        {topic: topic for topic in relevant["first"]},
    )
    names = pl.DataFrame(
        list(first_topics.items()), schema={"topic": pl.String, "first": pl.String}, orient="row"
    )
    return names.join(relevant, on="first").select(*schema).unique()


def _first_task(task: Task) -> Task | None:
    return Task.objects.filter(lab=task.lab, kind=Task.Kind.ANSWERS).select_related("lab").first()


def _last_labels(task: Task) -> list[int | None]:
    """Return what changes whenever a label that counts does."""
    return [
        judgments.aggregate(last=Max("pk"))["last"]
        for judgments in (
            official_judgments(task),
            adjudicated_judgments(task),
            second_judgments(task),
        )
    ]
