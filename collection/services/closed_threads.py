"""Threads without what leads to closed threads: a link to a topic's question is an oracle."""

from __future__ import annotations

from collections.abc import Set
from copy import copy
from dataclasses import replace

from arqkit.texts.html.comments import with_markup
from arqkit.texts.html.rendering import addresses_of, read_text, without_links
from arqkit.texts.html.sanitizer import RULES
from arqkit.texts.posts.addresses import post_address
from collection.models import Collection, Post
from collection.selectors.threads import (
    LinkedQuestion,
    Links,
    Thread,
    find_commented,
    find_posts,
)


def without_closed_threads(thread: Thread, closed: Set[str]) -> Thread:
    """Return a thread without links to closed threads (ids), and without comments with such links.

    Takes at most two queries, and none if no thread is closed.
    """
    if not closed:
        return thread
    comments = {
        comment: addresses_of([read_text(with_markup(comment.safe_text))])
        for group in thread.comments.values()
        for comment in group
    }
    posts = {post: addresses_of([read_text(post.safe_body)]) for post in thread.posts}
    addresses = {address for group in (*comments.values(), *posts.values()) for address in group}
    hidden = _addresses_into(addresses, thread.collection, closed)
    shown = {post.pk: _without_links(post, hidden) for post in posts if hidden & {*posts[post]}}
    return replace(
        thread,
        question=shown.get(thread.question.pk, thread.question) if thread.question else None,
        answers=tuple(shown.get(answer.pk, answer) for answer in thread.answers),
        comments={
            post_id: tuple(each for each in group if hidden.isdisjoint(comments[each]))
            for post_id, group in thread.comments.items()
        },
        links=_without_questions(thread.links, closed),
    )


def _addresses_into(addresses: Set[str], collection: Collection, closed: Set[str]) -> set[str]:
    """Return the addresses of posts and comments in closed threads."""
    named = {address: found for address in addresses if (found := post_address(address))}
    under = find_commented(collection, {found.comment_id for found in named.values()} - {""})
    ids = {post_id for found in named.values() for post_id in found.post_ids}
    posts = find_posts(collection, ids | {*under.values()} - {""}) if named else {}
    threads = {post_id: post.thread_id for post_id, post in posts.items()}
    return {
        address
        for address, found in named.items()
        for post_id in (*found.post_ids, under.get(found.comment_id, ""))
        if threads.get(post_id, post_id) in closed
    }


def _without_links(post: Post, hidden: Set[str]) -> Post:
    shown = copy(post)
    shown.clean_title, shown.clean_body = post.safe_title, without_links(post.safe_body, hidden)
    shown.rules, shown.corrected_body = RULES, None
    return shown


def _without_questions(links: Links, closed: Set[str]) -> Links:
    def kept(group: tuple[LinkedQuestion, ...]) -> tuple[LinkedQuestion, ...]:
        return tuple(
            link
            for link in group
            if (link.post.thread_id if link.post else link.post_id) not in closed
        )

    return Links(
        *map(kept, (links.duplicate_of, links.duplicates, links.linked, links.linked_from))
    )
