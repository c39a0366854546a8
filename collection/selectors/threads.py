"""Threads: a question with its answers, comments, authors and links."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from django.db.models import F, Q

from arqlab.core.models import Corrections, Lab
from collection.models import Author, Collection, Comment, Post, PostLink


class LinkedQuestion(NamedTuple):
    """A question linked with a thread. `post` is None if the collection does not have it."""

    post_id: str
    post: Post | None


class Links(NamedTuple):
    """The linked questions of a thread by kind and direction, as seen from the thread."""

    duplicate_of: tuple[LinkedQuestion, ...] = ()
    duplicates: tuple[LinkedQuestion, ...] = ()
    linked: tuple[LinkedQuestion, ...] = ()
    linked_from: tuple[LinkedQuestion, ...] = ()

    @property
    def posts(self) -> list[Post]:
        """Return the linked posts that the collection has."""
        return [link.post for group in self for link in group if link.post is not None]


@dataclass(frozen=True)
class Thread:
    """A question with its answers, comments by post id, authors by id, and links.

    `question` is None if only answers were loaded. The accepted answer comes first, the others by
    score, with ties in the order of loading.
    """

    collection: Collection
    thread_id: str
    question: Post | None
    answers: tuple[Post, ...]
    comments: Mapping[str, tuple[Comment, ...]]
    authors: Mapping[str, Author]
    links: Links
    corrected_formulas: Mapping[str, str] = field(default_factory=dict)

    @property
    def posts(self) -> tuple[Post, ...]:
        """Return the question, if any, and the answers, in the order of the page."""
        return (*([self.question] if self.question else []), *self.answers)

    @property
    def accepted_id(self) -> str:
        """Return the id of the answer that the asker accepted, or an empty string."""
        return self.question.accepted_id if self.question else ""


def find_thread(
    collection: Collection, post_id: str, corrections: Corrections | None = None
) -> Thread | None:
    """Return the thread of a question or answer, or None if the collection does not have it.

    A document is the question of a thread of its own. The lab's corrections apply to the texts of
    posts and to the threads of answers.
    """
    corrections = corrections or Corrections()
    posts = _posts_with(collection, post_id, corrections.threads)
    for post in posts:
        post.corrected_body = corrections.texts.get(post.post_id)
    return _thread(collection, posts, corrections.formulas) if posts else None


def _posts_with(collection: Collection, post_id: str, moved: Mapping[str, str]) -> list[Post]:
    """Return the posts of a thread in the order of loading; `moved` has the questions of answers.

    Answers that were moved to another thread follow its own.
    """
    posts = Post.objects.filter(collection=collection)
    named = posts.filter(post_id=moved.get(post_id, post_id))
    # Documents have no thread: each is shown alone.
    threads = named.exclude(thread_id="").values("thread_id")[:1]
    thread_posts = list(posts.filter(thread_id__in=threads).order_by("pk")) or list(named)
    if (
        not thread_posts and post_id in moved
    ):  # the collection was loaded again without the question
        return _posts_with(collection, post_id, {})
    here = {post.post_id for post in thread_posts}
    joined = {answer for answer, question in moved.items() if question in here} - here
    stay = [post for post in thread_posts if moved.get(post.post_id) in {None, *here}]
    return stay + (list(posts.filter(post_id__in=joined).order_by("pk")) if joined else [])


def corrected_post(post: Post | None, key: str, corrections: Corrections) -> Post | None:
    """Return a post with the lab's correction of its text, or None without post and correction.

    `key` is the id of the post or of a generated answer. A correction without a post becomes an
    unsaved post without a kind.
    """
    if key not in corrections.texts:
        return post
    corrected = post or Post(post_id=key, kind="")
    corrected.corrected_body = corrections.texts[key]
    return corrected


def find_posts(collection: Collection | int, post_ids: Iterable[str]) -> dict[str, Post]:
    """Return the posts of the collection with these ids, by id, without their bodies."""
    posts = Post.objects.filter(collection=collection, post_id__in=set(post_ids))
    return {post.post_id: post for post in posts.defer("body", "clean_body")}


def find_commented(collection: Collection | int, comment_ids: Iterable[str]) -> dict[str, str]:
    """Return the ids of the posts that have these comments, by comment id."""
    comments = Comment.objects.filter(collection=collection, comment_id__in=set(comment_ids))
    return dict(comments.values_list("comment_id", "post_id"))


def _thread(
    collection: Collection, posts: list[Post], corrected_formulas: Mapping[str, str]
) -> Thread:
    question = next((post for post in posts if post.kind != Post.Kind.ANSWER), None)
    accepted = question.accepted_id if question else ""
    answers = [post for post in posts if post.kind == Post.Kind.ANSWER]
    answers.sort(
        key=lambda post: (post.post_id != accepted, post.score is None, -(post.score or 0))
    )
    comments = _comments(collection, [post.post_id for post in posts])
    written = {post.author_id for post in posts}
    written |= {comment.author_id for group in comments.values() for comment in group}
    return Thread(
        collection=collection,
        thread_id=posts[0].thread_id,
        question=question,
        answers=tuple(answers),
        comments=comments,
        authors=_authors(collection, written - {""}),
        links=_links(collection, [post.post_id for post in posts]),
        corrected_formulas=corrected_formulas,
    )


def _comments(collection: Collection, post_ids: list[str]) -> dict[str, tuple[Comment, ...]]:
    by_post: dict[str, list[Comment]] = {}
    comments = Comment.objects.filter(collection=collection, post_id__in=post_ids)
    for comment in comments.order_by(F("created_at").asc(nulls_last=True), "pk"):
        by_post.setdefault(comment.post_id, []).append(comment)
    return {post_id: tuple(group) for post_id, group in by_post.items()}


def _authors(collection: Collection, author_ids: set[str]) -> dict[str, Author]:
    authors = Author.objects.filter(collection=collection, author_id__in=author_ids)
    return {author.author_id: author for author in authors}


def _links(collection: Collection, post_ids: list[str]) -> Links:
    """Return the links of a thread's posts. A duplicate is not repeated as a linked question."""
    thread_ids = set(post_ids)
    rows = list(
        PostLink.objects.filter(collection=collection)
        .filter(Q(post_id__in=thread_ids) | Q(related_id__in=thread_ids))
        .values_list("post_id", "related_id", "kind")
    )
    posts = find_posts(collection, {post_id for row in rows for post_id in row[:2]} - thread_ids)
    groups: dict[tuple[bool, str], dict[str, None]] = {}
    for post_id, related_id, kind in rows:
        is_ours = post_id in thread_ids
        other = related_id if is_ours else post_id
        if other not in thread_ids:
            groups.setdefault((is_ours, kind), {})[other] = None
    named: set[str] = set()
    sorted_ids: list[list[str]] = []
    for kind in PostLink.Kind.DUPLICATE, PostLink.Kind.RELATED:
        for is_ours in (True, False):
            ids = sorted(
                set(groups.get((is_ours, kind), {})) - named,
                key=lambda post_id: (len(post_id), post_id),
            )
            named |= set(ids)
            sorted_ids.append(ids)
    return Links(
        *(
            tuple(LinkedQuestion(post_id, posts.get(post_id)) for post_id in ids)
            for ids in sorted_ids
        )
    )


def posts_of(lab: Lab, post_ids: Iterable[str]) -> dict[str, Post]:
    """Return the posts of the lab's collection with these ids, by id."""
    ids = set(post_ids) - {""}  # an answer of Task 3 may have no post
    posts = Post.objects.filter(collection__labs=lab, post_id__in=ids).order_by()
    return {post.post_id: post for post in posts}
