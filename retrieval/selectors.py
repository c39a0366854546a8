"""What a system may read: topics, the collection's posts, formulas and links, and a lab's runs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import polars as pl
from django.db.models import OuterRef, Q, QuerySet, Subquery

from arqkit.records import TaskKind, TopicRecord
from arqlab.core.models import Task
from collection.models import Collection, Post, PostLink
from collection.selectors.collections import collection_of, formulas_scan, posts_scan
from submissions.models import Run
from submissions.selectors import ordered_index

POSTS_AT_ONCE = 2_000
"""Posts in memory while a collection is read."""


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
        made = hashlib.sha256(repr(columns).encode()).hexdigest()
        return self.collection.source_sha256 or made

    @cached_property
    def topics(self) -> list[TopicRecord]:
        """Return the topics in order."""
        rows = self.task.topics.order_by("position")
        return [
            TopicRecord(
                topic.query_id,
                topic.title,
                topic.body,
                tuple(topic.tags),
                topic.formula_id or None,
                topic.latex or None,
            )
            for topic in rows
        ]

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
        titled = self._searched().order_by("pk")
        if self._kind == Post.Kind.ANSWER:
            titled = titled.annotate(asked=Subquery(question.values("title")[:1]))
        name = "asked" if self._kind == Post.Kind.ANSWER else "title"
        for post_id, title, body in titled.values_list("post_id", name, "body").iterator(
            POSTS_AT_ONCE
        ):
            yield SearchedPost(post_id, title or "", body)

    def voted_answers(self) -> Iterator[tuple[str, str, int]]:
        """Yield topic, id and vote score of the answers in threads that are linked as duplicates of
        the topic's thread, in either direction; later posts, which no run may list, are left out.
        """
        for topic, thread in self.task.topics.exclude(thread_id="").values_list(
            "query_id", "thread_id"
        ):
            links = PostLink.objects.filter(
                Q(post_id=thread) | Q(related_id=thread),
                collection=self.collection,
                kind=PostLink.Kind.DUPLICATE,
            )
            linked = {name for link in links.values_list("post_id", "related_id") for name in link}
            answers = self._searched().filter(thread_id__in=linked - {thread})
            for post_id, score in answers.values_list("post_id", "score"):
                yield topic, post_id, score or 0

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


def ranking_of_run(run: Run) -> pl.DataFrame:
    """Return the ranking of a valid run: topic, item and score, in the order of its task."""
    index = ordered_index(run, order=run.task.protocol.order, columns=("topic", "item", "score"))
    return index.sort("topic", "order").select("topic", "item", "score").collect()
