"""What a system may read: topics, the collection's posts, formulas and links, and a lab's runs."""

import hashlib
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

import polars as pl
from django.db.models import OuterRef, Q, QuerySet, Subquery

from arqkit.records import TaskKind, TopicRecord
from arqlab.core.models import Lab, Task, Topic, User
from arqlab.core.models.reading import values_in_chunks
from assessment.judging.selectors.progress import assigned_topics
from assessment.models import PoolInstance
from assessment.pools.selectors.choices import hides_threads
from collection.models import Collection, Post, PostLink
from collection.selectors.collections import collection_of, formulas_scan, posts_scan, scan_columns
from submissions.models import Run
from submissions.selectors import ordered_index

POSTS_AT_ONCE = 2_000
"""Posts in memory while a collection is read."""
FORMULAS_AT_ONCE = 20_000
"""Formulas in memory while a collection is read."""

CONTEXT = ["latex", "post_id", "thread_id"]


class SearchedPost(NamedTuple):
    """An answer with the title of its question, or a document; both texts are the source's HTML."""

    post_id: str
    title: str
    body: str


class Sources:
    """The topics of a task, and the collection that its lab searches, None without one."""

    def __init__(self, task: Task) -> None:
        """Read nothing yet: a system reads what it needs."""
        self.task, self.collection = task, collection_of(task.lab)

    @cached_property
    def collection_sha256(self) -> str:
        """Return the SHA-256 of the collection's files; if only commands loaded it, of its columns.

        It is empty without a collection.
        """
        if self.collection is None:
            return ""
        columns = (self.collection.posts_index.name, self.collection.formulas_index.name)
        of_columns = hashlib.sha256(repr(columns).encode()).hexdigest()
        return self.collection.source_sha256 or of_columns

    @cached_property
    def topics(self) -> list[TopicRecord]:
        """Return the topics in order."""
        return [topic.record for topic in self.task.topics.order_by("position")]

    def item_ids(self) -> pl.Series:
        """Return the ids that a run may list, sorted: answers, documents, or formulas of posts."""
        lab, is_formulas = self.task.lab, TaskKind(self.task.kind) is TaskKind.FORMULAS
        items = formulas_scan(lab) if is_formulas else posts_scan(lab)
        if items is None:
            return pl.Series(dtype=pl.String)
        of_kind = pl.col("type") != "comment" if is_formulas else pl.col("type") == self._kind
        ids = items.filter(of_kind).select("formula_id" if is_formulas else "post_id")
        return ids.collect().to_series().sort()

    def count_posts(self) -> int:
        """Return how many posts `posts` yields."""
        return self._searched().count()

    def posts(self) -> Iterator[SearchedPost]:
        """Yield the searched answers, or the documents, a few at a time from the database."""
        question = Post.objects.filter(
            collection=OuterRef("collection"),
            thread_id=OuterRef("thread_id"),
            kind=Post.Kind.QUESTION,
        )
        titled = self._searched()
        if self._kind == Post.Kind.ANSWER:
            titled = titled.annotate(asked=Subquery(question.values("title")[:1]))
        name = "asked" if self._kind == Post.Kind.ANSWER else "title"
        rows = values_in_chunks(titled, "post_id", name, "body", size=POSTS_AT_ONCE)
        for post_id, title, body in rows:
            yield SearchedPost(post_id, title or "", body)

    def formulas(self) -> Iterator[pl.DataFrame]:
        """Yield the formulas of posts, without comments, some at a time: formula_id, post_id, type,
        latex, slt and opt (MathML, null where the collection has none).
        """
        if self.collection is None or not self.collection.formulas_index:
            return
        columns = ("formula_id", "post_id", "type", "latex")
        index = scan_columns(self.collection.formulas_index).select(columns)
        for start in range(0, self.count_formulas(), FORMULAS_AT_ONCE):
            some = index.slice(start, FORMULAS_AT_ONCE).collect()
            some = some.filter(pl.col("type") != "comment")
            for name in ("slt", "opt"):
                some = self._with_trees(some, name)
            yield some

    def contexts(self) -> pl.DataFrame:
        """Return latex, post_id and thread_id of the formulas of posts, without comments."""
        if self.collection is None or not self.collection.formulas_index:
            return pl.DataFrame(schema=dict.fromkeys(CONTEXT, pl.String))
        index = scan_columns(self.collection.formulas_index).filter(pl.col("type") != "comment")
        return index.select(pl.col(CONTEXT).fill_null("")).collect()

    def linked_threads(self) -> list[tuple[str, str]]:
        """Return the links between threads of the collection."""
        links = PostLink.objects.filter(collection=self.collection)
        return list(links.values_list("post_id", "related_id"))

    def count_formulas(self) -> int:
        """Return how many formulas the collection has, with those of comments."""
        if self.collection is None or not self.collection.formulas_index:
            return 0
        return int(scan_columns(self.collection.formulas_index).select(pl.len()).collect().item())

    def answers_with(self, formula_ids: pl.Series) -> pl.DataFrame:
        """Return formula_id and post_id of those formulas that are in answers."""
        formulas = formulas_scan(self.task.lab)
        if formulas is None:
            return pl.DataFrame(schema={"formula_id": pl.String, "post_id": pl.String})
        is_in_answer = pl.col("formula_id").is_in(formula_ids.implode()) & (
            pl.col("type") == self._kind
        )
        return formulas.filter(is_in_answer).select("formula_id", "post_id").collect()

    def _with_trees(self, formulas: pl.DataFrame, name: str) -> pl.DataFrame:
        file = getattr(self.collection, f"{name}_index")
        if not file:
            return formulas.with_columns(pl.lit(None, pl.String).alias(name))
        is_asked = pl.col("formula_id").is_in(formulas["formula_id"].implode())
        trees = (
            scan_columns(file).filter(is_asked).select("formula_id", pl.col("mathml").alias(name))
        )
        return formulas.join(trees.collect(), on="formula_id", how="left", maintain_order="left")

    def threads(self) -> dict[str, str]:
        """Return the thread of each topic, where it is known."""
        topics = self.task.topics.exclude(thread_id="")
        return dict(topics.values_list("query_id", "thread_id"))

    def duplicates(self) -> list[tuple[str, str]]:
        """Return the links between threads of topics and their duplicates, in any direction."""
        threads = set(self.threads().values())
        links = PostLink.objects.filter(
            Q(post_id__in=threads) | Q(related_id__in=threads),
            collection=self.collection,
            kind=PostLink.Kind.DUPLICATE,
        )
        return list(links.values_list("post_id", "related_id"))

    def voted_answers(self, threads: Iterable[str]) -> pl.DataFrame:
        """Return the searched answers of some threads: thread, item, and score, the vote score."""
        answers = self._searched().filter(thread_id__in=set(threads))
        schema = {"thread": pl.String, "item": pl.String, "score": pl.Int64}
        rows = list(answers.values_list("thread_id", "post_id", "score"))
        return pl.DataFrame(rows, schema=schema, orient="row")

    @property
    def _kind(self) -> str:
        documents = TaskKind(self.task.kind) is TaskKind.DOCUMENTS
        return str(Post.Kind.DOCUMENT if documents else Post.Kind.ANSWER)

    def _searched(self) -> QuerySet[Post]:
        return Post.objects.filter(collection=self.collection, kind=self._kind, is_searched=True)


def has_votes(collection: Collection) -> bool:
    """Return whether posts of a collection have vote scores."""
    return Post.objects.filter(collection=collection, score__isnull=False).exists()


def has_links(collection: Collection) -> bool:
    """Return whether links of posts were imported into a collection."""
    return PostLink.objects.filter(collection=collection).exists()


def hidden_threads(user: User, lab: Lab) -> frozenset[str]:
    """Return the threads of posts that a user of a lab judges without them (`hides_threads`).

    A search that finds a post, or its thread, tells it from the generated answers beside it.
    """
    judged = Q(pk__in=assigned_topics(user)) | Q(pool_items__assessor=user)
    topics = Topic.objects.filter(judged, task__lab=lab).distinct()
    hidden = [topic.pk for topic in topics if hides_threads(topic.pk)]
    posts = PoolInstance.official.filter(item__topic__in=hidden).values("post_id")
    threads = Post.objects.filter(collection=collection_of(lab), post_id__in=posts)
    return frozenset(threads.exclude(thread_id="").values_list("thread_id", flat=True))


def ranking_of_run(run: Run) -> pl.DataFrame:
    """Return the ranking of a valid run: topic, item and score, in the order of its task."""
    index = ordered_index(run, order=run.task.protocol.order, columns=("topic", "item", "score"))
    return index.sort("topic", "order").select("topic", "item", "score").collect()
