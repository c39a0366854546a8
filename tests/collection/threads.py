"""A thread with everything that a thread can have, for tests."""

from datetime import UTC, datetime, timedelta
from typing import Any

from arqlab.core.models import Lab
from collection.models import Author, Collection, Comment, LabCollection, Post, PostLink

AT = datetime(2012, 3, 4, 5, 6, tzinfo=UTC)
SITE = "https://math.stackexchange.com"


def make_collection(lab: Lab) -> Collection:
    """Create an empty collection that a lab searches."""
    collection = Collection.objects.create(slug="made", loaded_at=AT)
    LabCollection.objects.create(lab=lab, collection=collection)
    return collection


def add_question(collection: Collection, post_id: str = "1", **fields: Any) -> Post:
    """Add a question; its thread has its id."""
    known = {
        "title": f"Question {post_id}",
        "body": f"<p>The text of {post_id}</p>",
        "thread_id": post_id,
    }
    return Post.objects.create(
        collection=collection, post_id=post_id, kind=Post.Kind.QUESTION, **(known | fields)
    )


def add_answer(collection: Collection, post_id: str, *, to: str = "1", **fields: Any) -> Post:
    """Add an answer to a question."""
    known = {"body": f"<p>The text of {post_id}</p>"}
    return Post.objects.create(
        collection=collection,
        post_id=post_id,
        kind=Post.Kind.ANSWER,
        thread_id=to,
        **(known | fields),
    )


def add_comment(collection: Collection, comment_id: str, *, on: str, **fields: Any) -> Comment:
    """Add a comment on a post; comments are a minute apart in the order of their ids."""
    known = {"text": f"Comment {comment_id}", "created_at": AT + timedelta(minutes=int(comment_id))}
    return Comment.objects.create(
        collection=collection, comment_id=comment_id, post_id=on, **(known | fields)
    )


def link(collection: Collection, post_id: str, related_id: str, kind: str = "related") -> PostLink:
    """Link a question to another."""
    return PostLink.objects.create(
        collection=collection, post_id=post_id, related_id=related_id, kind=kind
    )


def rich_thread(lab: Lab) -> Collection:
    """Make thread 1 (two answers, the second accepted, comments, owners, links, an image) and
    thread 2.
    """
    collection = make_collection(lab)
    Author.objects.create(
        collection=collection, author_id="7", name="Ada", reputation=12_345, gold=1, bronze=3
    )
    body = (
        f'<h1>Part</h1><p>See <a href="{SITE}/a/20">there</a>, <a href="{SITE}/a/11">below</a>, '
        f'<a href="{SITE}/q/404">gone</a>, <a href="https://en.wikipedia.org/wiki/Sum">a sum</a>, '
        f'<a href="{SITE}/questions/2/x#comment103_2">said</a>. '
        '<img src="https://i.example.org/p/x.png" alt="a plot"></p>'
        "<p>$$\\sum_{n=1}^{100} n = 1 + 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9 + 10 + 11 "
        "+ 12 + 13 + 14 + 15 + 16 + 17$$</p>"
    )
    about = {"author_id": "7", "created_at": AT}
    add_question(
        collection,
        title="Is $x^2$ even?",
        body=body,
        tags=["sums"],
        score=5,
        views=1234,
        accepted_id="11",
        **about,
    )
    add_answer(collection, "10", score=9, body="<p>Since $x=2y$.</p>", author_name="Bob")
    add_answer(collection, "11", score=2)
    for number in (101, 102):
        add_comment(collection, str(number), on="1", author_id="7", score=number - 101)
    for number in range(111, 117):
        add_comment(collection, str(number), on="11")
    add_question(collection, "2", title="Two $y$?")
    add_answer(collection, "20", to="2")
    add_comment(collection, "103", on="2")
    link(collection, "1", "2", "duplicate")
    link(collection, "1", "404")
    return collection
