"""Topic candidates: questions with the values by which organizers choose topics."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from django.db.models import Count

from arqkit.formats.batches import in_slices
from arqkit.texts.posts.text import plain_title
from arqkit.texts.posts.topic_making import Candidate, measure_text
from arqlab.core.models import Topic
from arqlab.core.models.reading import rows_in_chunks
from collection.models import Author, Collection, Comment, Post, PostLink

BATCH = 1_000


class _Related(NamedTuple):
    """Counts and links of the questions in a batch by id, and reputations by author."""

    answers: dict[str, int]
    comments: dict[str, int]
    duplicates: dict[str, list[str]]
    related: dict[str, list[str]]
    reputations: dict[str, int | None]


def candidates_of(collection: Collection, *, which: str) -> Iterator[Candidate]:
    """Yield the questions of a collection: `later` (stored but not searched), `searched` or `all`.

    Duplicates and related questions are searched questions, linked in either direction.
    """
    questions = Post.objects.filter(collection=collection, kind=Post.Kind.QUESTION)
    if which != "all":
        questions = questions.filter(is_searched=which == "searched")
    for batch in in_slices(rows_in_chunks(questions, size=BATCH), size=BATCH):
        related = _related(collection, batch)
        yield from (_candidate(post, related) for post in batch)


def questions_by_id(collection: Collection, post_ids: Iterable[str]) -> dict[str, Post]:
    """Return the questions of the collection with these ids, by id."""
    questions = Post.objects.filter(
        collection=collection, kind=Post.Kind.QUESTION, post_id__in=list(post_ids)
    )
    return {post.post_id: post for post in questions}


def existing_topics() -> tuple[frozenset[str], tuple[str, ...]]:
    """Return the thread ids and the plain titles of the topics of all labs on this server."""
    rows = Topic.objects.values_list("thread_id", "title")
    titles = {plain_title(title) for _, title in rows}
    return frozenset(thread for thread, _ in rows if thread), tuple(sorted(titles))


def highest_topic_number() -> int:
    """Return the highest topic number of all labs on this server, 0 if there are no topics."""
    ids = Topic.objects.values_list("query_id", flat=True)
    numbers = (query_id.rpartition(".")[2] for query_id in ids)
    return max((int(it) for it in numbers if it.isascii() and it.isdigit()), default=0)


def _related(collection: Collection, questions: Sequence[Post]) -> _Related:
    ids = [post.post_id for post in questions]
    askers = Author.objects.filter(
        collection=collection, author_id__in={post.author_id for post in questions}
    )
    answers = Post.objects.filter(collection=collection, kind=Post.Kind.ANSWER, thread_id__in=ids)
    comments = Comment.objects.filter(collection=collection, post_id__in=ids)
    links = PostLink.objects.filter(collection=collection).values_list(
        "post_id", "related_id", "kind"
    )
    pairs = {(post, other, kind) for post, other, kind in links.filter(post_id__in=ids)}
    pairs |= {(post, other, kind) for other, post, kind in links.filter(related_id__in=ids)}
    others = Post.objects.filter(collection=collection, kind=Post.Kind.QUESTION, is_searched=True)
    named = others.filter(post_id__in={other for _, other, _ in pairs})
    searched = set(named.values_list("post_id", flat=True))
    linked: dict[str, dict[str, list[str]]] = {
        kind: defaultdict(list) for kind in PostLink.Kind.values
    }
    for post, other, kind in sorted(pairs):
        if other in searched and other != post:
            linked[kind][post].append(other)
    return _Related(
        answers=dict(answers.values_list("thread_id").annotate(Count("pk")).order_by()),
        comments=dict(comments.values_list("post_id").annotate(Count("pk")).order_by()),
        duplicates=linked[PostLink.Kind.DUPLICATE],
        related=linked[PostLink.Kind.RELATED],
        reputations=dict(askers.values_list("author_id", "reputation")),
    )


def _candidate(post: Post, related: _Related) -> Candidate:
    measures = measure_text(post.safe_title, post.safe_body)
    return Candidate(
        post_id=post.post_id,
        title=plain_title(post.safe_title),
        created=post.created_at,
        score=post.score,
        answers=related.answers.get(post.post_id, 0),
        comments=related.comments.get(post.post_id, 0),
        views=post.views,
        reputation=related.reputations.get(post.author_id),
        **measures._asdict(),
        duplicates=tuple(related.duplicates.get(post.post_id, ())),
        related=tuple(related.related.get(post.post_id, ())),
        tags=tuple(post.tags),
    )
