"""Votes and badges: rows of the dump that are counted for a post or an author, and not kept themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import connection
from django.db.models import F

from arqlab.ir.dumprecords import BadgeRecord, VoteRecord
from collection.models import Author, Collection, Import, Post
from collection.services.importing.held import in_slices, known_authors, known_posts

VOTES = ("up_votes", "down_votes")
BADGES = ("gold", "silver", "bronze")
Sums = dict[str, list[int]]


def clear_votes(collection: Collection) -> None:
    """Begin the count of votes anew, and take back the scores that an earlier count gave."""
    posts = Post.objects.filter(collection=collection)
    earlier = Import.objects.filter(collection=collection, kind=Import.Kind.VOTES)
    if any(record.counts.get("scores_from_votes") for record in earlier):
        posts.filter(score=F("up_votes") - F("down_votes")).update(score=None)
    posts.update(up_votes=0, down_votes=0)


def store_votes(collection: Collection, votes: Sequence[VoteRecord]) -> Counter[str]:
    """Add a batch of votes to their posts, and say what became of them."""
    sums: Sums = {}
    for vote in votes:
        if vote.kind:
            sums.setdefault(vote.post_id, [0, 0])[vote.kind == "down"] += 1
    known = known_posts(collection, sums)
    counted = {post_id: counts for post_id, counts in sums.items() if post_id in known}
    _add(Post._meta.db_table, "post_id", VOTES, collection, counted)
    up, down = (sum(counts[place] for counts in counted.values()) for place in (0, 1))
    others = sum(not vote.kind for vote in votes)
    passed = len(votes) - others - up - down
    return Counter(
        kept=up + down, up_votes=up, down_votes=down, other_kinds_of_votes=others, on_posts_that_are_not_here=passed
    )


def finish_votes(collection: Collection) -> Counter[str]:
    """Give the posts without a score of their own the difference of their votes."""
    unscored = Post.objects.filter(collection=collection, score=None)
    return Counter(scores_from_votes=unscored.update(score=F("up_votes") - F("down_votes")))


def clear_badges(collection: Collection) -> None:
    """Begin the count of badges anew."""
    Author.objects.filter(collection=collection).update(gold=0, silver=0, bronze=0)


def store_badges(collection: Collection, badges: Sequence[BadgeRecord]) -> Counter[str]:
    """Add a batch of badges to their authors, and say what became of them."""
    sums: Sums = {}
    for badge in badges:
        sums.setdefault(badge.author_id, [0, 0, 0])[BADGES.index(badge.kind)] += 1
    known = known_authors(collection, sums)
    counted = {author_id: counts for author_id, counts in sums.items() if author_id in known}
    _add(Author._meta.db_table, "author_id", BADGES, collection, counted)
    kinds = {kind: sum(counts[place] for counts in counted.values()) for place, kind in enumerate(BADGES)}
    kept = sum(kinds.values())
    return Counter({"kept": kept, **kinds, "of_authors_who_are_not_here": len(badges) - kept})


def _add(table: str, key: str, columns: Sequence[str], collection: Collection, sums: Mapping[str, list[int]]) -> None:
    """Add numbers to columns of many rows, in one statement for each slice: the ORM has no such thing."""
    # `column1`, `column2` are what both databases call the columns of VALUES.
    added = ", ".join(f"{name} = {name} + more.column{place}" for place, name in enumerate(columns, 2))
    row = f"({', '.join(['%s'] * (len(columns) + 1))})"
    for part in in_slices(sums.items()):
        # Only names of our own models are put into the text; what comes from the file is a parameter.
        statement = (
            f"UPDATE {table} SET {added} FROM (VALUES {', '.join([row] * len(part))}) AS more "  # noqa: S608
            f"WHERE {table}.collection_id = %s AND {table}.{key} = more.column1"
        )
        values: list[Any] = [value for row_id, counts in part for value in (row_id, *counts)]
        with connection.cursor() as cursor:
            cursor.execute(statement, [*values, collection.pk])
