"""Storing comments, links, tags and authors of a data dump."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

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

VOTES = {"up": "up_votes", "down": "down_votes"}
BADGES = {"gold": "gold", "silver": "silver", "bronze": "bronze"}
"""The columns of the counts, by the kind of vote or badge."""


def clear_votes(collection: Collection) -> None:
    """Reset the votes of all posts, and the scores that were computed from them."""
    posts = Post.objects.filter(collection=collection)
    earlier = Import.objects.filter(collection=collection, kind=Import.Kind.VOTES)
    if any(record.counts.get("scores_from_votes") for record in earlier):
        posts.filter(score=F("up_votes") - F("down_votes")).update(score=None)
    posts.update(up_votes=0, down_votes=0)


def store_votes(collection: Collection, votes: Sequence[VoteRecord]) -> Counter[str]:
    """Add the votes to their posts. Return the counts."""
    counted = Counter((vote.post_id, vote.kind) for vote in votes if vote.kind in VOTES)
    up, down = _add(Post, VOTES, collection, counted)
    return Counter(
        kept=up + down,
        up_votes=up,
        down_votes=down,
        other_kinds_of_votes=len(votes) - counted.total(),
        on_posts_that_are_not_here=counted.total() - up - down,
    )


def finish_votes(collection: Collection) -> Counter[str]:
    """Set the score of posts without one to the difference of their votes. Return the counts."""
    unscored = Post.objects.filter(collection=collection, score=None)
    return Counter(scores_from_votes=unscored.update(score=F("up_votes") - F("down_votes")))


def clear_badges(collection: Collection) -> None:
    """Reset the badges of all authors."""
    Author.objects.filter(collection=collection).update(gold=0, silver=0, bronze=0)


def store_badges(collection: Collection, badges: Sequence[BadgeRecord]) -> Counter[str]:
    """Add the badges to their authors. Return the counts."""
    counted = Counter((badge.author_id, badge.kind) for badge in badges)
    kinds = _add(Author, BADGES, collection, counted)
    passed = len(badges) - sum(kinds)
    return Counter(
        kept=sum(kinds), of_authors_who_are_not_here=passed, **dict(zip(BADGES, kinds, strict=True))
    )


def _add(
    model: type[Post | Author],
    columns: Mapping[str, str],
    collection: Collection,
    counted: Counter[tuple[str, str]],
) -> list[int]:
    """Add counts by id and kind to columns of the known rows. Return the total of each column."""
    table, key = model._meta.db_table, "post_id" if model is Post else "author_id"
    ids = sorted(stored_ids(collection, {row_id for row_id, _ in counted}, model=model))
    for part in in_slices(ids, size=IDS_PER_STATEMENT):
        values: list[str | int] = []
        for row_id in part:
            values += [row_id, *(counted[row_id, kind] for kind in columns)]
        statement = _statement(table, key, [*columns.values()], len(part))
        with connection.cursor() as cursor:
            cursor.execute(statement, [*values, collection.pk])
    return [sum(counted[row_id, kind] for row_id in ids) for kind in columns]


def _statement(table: str, key: str, columns: Sequence[str], rows: int) -> str:
    """Return an UPDATE that adds to many rows, which the ORM cannot express.

    Its text has only names from our models.
    """
    # `column1`, `column2` are what both databases call the columns of VALUES.
    added = ", ".join(
        f"{name} = {name} + more.column{place}" for place, name in enumerate(columns, 2)
    )
    values = ", ".join([f"({', '.join(['%s'] * (len(columns) + 1))})"] * rows)
    return (
        f"UPDATE {table} SET {added} FROM (VALUES {values}) AS more "  # noqa: S608  # see above
        f"WHERE {table}.collection_id = %s AND {table}.{key} = more.column1"
    )


ROWS_PER_STATEMENT = 1_000


def clear_rows(model: type[Comment | PostLink | Tag], collection: Collection) -> None:
    """Delete the rows of an earlier file."""
    model._default_manager.filter(collection=collection).delete()


def store_comments(collection: Collection, comments: Sequence[CommentRecord]) -> Counter[str]:
    """Sanitize and store the comments on posts of the collection. Return the counts."""
    known = stored_ids(collection, (comment.post_id for comment in comments))
    kept = [comment for comment in comments if comment.post_id in known]
    formulas = 0
    rows: list[Comment] = []
    for comment in kept:
        clean = clean_comment(comment.text, comment_id=str(comment.comment_id))
        formulas += clean.formula_count
        text = clean.beside(comment.text)
        rows.append(
            Comment(collection=collection, clean_text=text, rules=RULES, **comment._asdict())
        )
    Comment.objects.bulk_create(rows, batch_size=ROWS_PER_STATEMENT)
    return Counter(
        kept=len(kept), formulas=formulas, on_posts_that_are_not_here=len(comments) - len(kept)
    )


def store_post_links(collection: Collection, links: Sequence[PostLinkRecord]) -> Counter[str]:
    """Store the distinct links between posts of the collection. Return the counts."""
    known = stored_ids(
        collection, (end for link in links for end in (link.post_id, link.related_id))
    )
    within = [link for link in links if link.post_id in known and link.related_id in known]
    distinct = {(link.post_id, link.related_id, link.kind): link for link in reversed(within)}
    stored = PostLink.objects.filter(
        collection=collection, post_id__in={link.post_id for link in within}
    )
    for key in stored.values_list("post_id", "related_id", "kind"):
        distinct.pop(key, None)
    PostLink.objects.bulk_create(
        (
            PostLink(
                collection=collection,
                post_id=link.post_id,
                related_id=link.related_id,
                kind=link.kind,
                created_at=link.created_at,
            )
            for link in reversed(distinct.values())
        ),
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
