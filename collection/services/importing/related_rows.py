"""Storing comments, links, tags and authors of a data dump."""

from array import array
from collections import Counter
from collections.abc import Sequence
from operator import attrgetter

import numpy as np
import numpy.typing as npt
from django.db import connection
from django.db.models import F

from arqkit.formats.batches import in_slices
from arqkit.formats.dumps.records import (
    AuthorRecord,
    BadgeRecord,
    CommentRecord,
    PostLinkRecord,
    TagRecord,
    VoteRecord,
)
from arqkit.texts.html.sanitizer import RULES, clean_comment
from collection.models import Author, Collection, Comment, Import, Post, PostLink, Tag
from collection.services.importing.import_records import IDS_PER_STATEMENT, stored_ids

VOTES = ("up", "down")
BADGES = ("gold", "silver", "bronze")

ROWS_PER_STATEMENT = 1_000


class Tally:
    """Counts of rows by id and kind, with eight bytes per row."""

    def __init__(self, kinds: Sequence[str], id_field: str) -> None:
        self.kinds = kinds
        self.others = 0
        self._places = {kind: place for place, kind in enumerate(kinds)}
        self._id_of = attrgetter(id_field)
        self._keys = array("q")

    def append(self, row: VoteRecord | BadgeRecord) -> None:
        """Count a row. Rows of other kinds only add to `others`."""
        place = self._places.get(row.kind)
        if place is None:
            self.others += 1
        else:
            self._keys.append((int(self._id_of(row)) << 2) + place)

    def __len__(self) -> int:
        """Return the number of all rows."""
        return len(self._keys) + self.others

    def sums(self) -> tuple[list[str], npt.NDArray[np.int64]]:
        """Return the sorted ids, and the counts: one row per id, one column per kind."""
        keys, counts = np.unique(np.array(self._keys, np.int64), return_counts=True)
        ids, rows = np.unique(keys >> 2, return_inverse=True)
        sums = np.zeros((len(ids), len(self.kinds)), np.int64)
        sums[rows, keys & 3] = counts
        return [str(number) for number in ids.tolist()], sums


def clear_votes(collection: Collection) -> None:
    """Reset the votes of all posts, and the scores that were computed from them."""
    posts = Post.objects.filter(collection=collection)
    earlier = Import.objects.filter(collection=collection, kind=Import.Kind.VOTES)
    if any(record.counts.get("scores_from_votes") for record in earlier):
        posts.filter(score=F("up_votes") - F("down_votes")).update(score=None)
    posts.update(up_votes=0, down_votes=0)


def store_votes(collection: Collection, votes: Tally) -> Counter[str]:
    """Add the votes to their posts. Return the counts."""
    up, down = _add(Post, ("up_votes", "down_votes"), collection, votes)
    return Counter(
        kept=up + down,
        up_votes=up,
        down_votes=down,
        other_kinds_of_votes=votes.others,
        on_posts_that_are_not_here=len(votes) - votes.others - up - down,
    )


def finish_votes(collection: Collection) -> Counter[str]:
    """Set the score of posts without one to the difference of their votes. Return the counts."""
    unscored = Post.objects.filter(collection=collection, score=None)
    return Counter(scores_from_votes=unscored.update(score=F("up_votes") - F("down_votes")))


def clear_badges(collection: Collection) -> None:
    """Reset the badges of all authors."""
    Author.objects.filter(collection=collection).update(gold=0, silver=0, bronze=0)


def store_badges(collection: Collection, badges: Tally) -> Counter[str]:
    """Add the badges to their authors. Return the counts."""
    kinds = _add(Author, BADGES, collection, badges)
    passed = len(badges) - sum(kinds)
    return Counter(
        kept=sum(kinds), of_authors_who_are_not_here=passed, **dict(zip(BADGES, kinds, strict=True))
    )


def _add(
    model: type[Post | Author], columns: Sequence[str], collection: Collection, tally: Tally
) -> list[int]:
    """Add the sums to columns of the known rows. Return the total added to each column."""
    table, key = model._meta.db_table, "post_id" if model is Post else "author_id"
    ids, sums = tally.sums()
    here = stored_ids(collection, ids, model=model)
    is_here = np.array([row_id in here for row_id in ids], np.bool_)
    rows = zip((row_id for row_id in ids if row_id in here), sums[is_here].tolist(), strict=True)
    for part in in_slices(rows, size=IDS_PER_STATEMENT):
        # One statement for thousands of rows; `bulk_update` writes a CASE with a branch for each.
        values = [value for row_id, counts in part for value in (row_id, *counts)]
        with connection.cursor() as cursor:
            cursor.execute(_statement(table, key, columns, len(part)), [*values, collection.pk])
    return [int(total) for total in sums[is_here].sum(axis=0)]


def _statement(table: str, key: str, columns: Sequence[str], rows: int) -> str:
    """Return an UPDATE that adds to many rows, with only names from our models in its text."""
    # `column1`, `column2` are what both databases call the columns of VALUES.
    added = ", ".join(
        f"{name} = {name} + more.column{place}" for place, name in enumerate(columns, 2)
    )
    values = ", ".join([f"({', '.join(['%s'] * (len(columns) + 1))})"] * rows)
    return (
        f"UPDATE {table} SET {added} FROM (VALUES {values}) AS more "  # noqa: S608  # see above
        f"WHERE {table}.collection_id = %s AND {table}.{key} = more.column1"
    )


def clear_rows(model: type[Comment | PostLink | Tag], collection: Collection) -> None:
    """Delete the rows of an earlier file."""
    model._default_manager.filter(collection=collection).delete()


def store_comments(collection: Collection, comments: Sequence[CommentRecord]) -> Counter[str]:
    """Sanitize and store the comments on posts of the collection. Return the counts."""
    post_ids = stored_ids(collection, (comment.post_id for comment in comments))
    stored = [comment for comment in comments if comment.post_id in post_ids]
    formulas = 0
    rows: list[Comment] = []
    for comment in stored:
        clean = clean_comment(comment.text, comment_id=comment.comment_id)
        formulas += clean.formula_count
        fields = {"clean_text": clean.beside(comment.text), "rules": RULES, **comment._asdict()}
        rows.append(Comment(collection=collection, **fields))
    Comment.objects.bulk_create(rows, batch_size=ROWS_PER_STATEMENT)
    return Counter(
        kept=len(stored), formulas=formulas, on_posts_that_are_not_here=len(comments) - len(stored)
    )


def store_post_links(collection: Collection, links: Sequence[PostLinkRecord]) -> Counter[str]:
    """Store the distinct links between posts of the collection. Return the counts."""
    post_ids = stored_ids(collection, (end for link in links for end in link[1:3]))
    within = [link for link in links if link.post_id in post_ids and link.related_id in post_ids]
    distinct = {(link.post_id, link.related_id, link.kind): link for link in reversed(within)}
    ids = {link.post_id for link in within}
    stored = PostLink.objects.filter(collection=collection, post_id__in=ids)
    for key in stored.values_list("post_id", "related_id", "kind"):
        distinct.pop(key, None)
    PostLink.objects.bulk_create(
        (PostLink(collection=collection, **link.stored) for link in reversed(distinct.values())),
        batch_size=ROWS_PER_STATEMENT,
    )
    kinds = Counter(link.kind for link in distinct.values())
    again, passed = len(within) - len(distinct), len(links) - len(within)
    return Counter(
        kept=len(distinct), **kinds, linked_again=again, to_posts_that_are_not_here=passed
    )


def store_tags(collection: Collection, tags: Sequence[TagRecord]) -> Counter[str]:
    """Store a batch of tags. Return the counts."""
    Tag.objects.bulk_create(
        Tag(collection=collection, name=tag.name, count=tag.questions) for tag in tags
    )
    return Counter(kept=len(tags))


def store_authors(collection: Collection, authors: Sequence[AuthorRecord]) -> Counter[str]:
    """Store a batch of authors, and update existing ones except their badges. Return the counts."""
    Author.objects.bulk_create(
        (Author(collection=collection, **author._asdict()) for author in authors),
        update_conflicts=True,
        update_fields=["name", "reputation"],
        unique_fields=["collection", "author_id"],
        batch_size=ROWS_PER_STATEMENT,
    )
    return Counter(kept=len(authors))
