"""Storing comments, links, tags and authors of a data dump."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from arqkit.formats.dumps.records import AuthorRecord, CommentRecord, PostLinkRecord, TagRecord
from arqkit.texts.html.sanitizer import RULES, CleanText, clean_comment
from collection.models import Author, Collection, Comment, PostLink, Tag
from collection.services.importing.existing_ids import known_posts

ROWS_PER_STATEMENT = 1_000


def clear_comments(collection: Collection) -> None:
    """Delete the comments of an earlier file."""
    Comment.objects.filter(collection=collection).delete()


def store_comments(collection: Collection, comments: Sequence[CommentRecord]) -> Counter[str]:
    """Sanitize and store the comments on posts of the collection. Return the counts."""
    known = known_posts(collection, (comment.post_id for comment in comments))
    kept = [comment for comment in comments if comment.post_id in known]
    formulas = 0
    rows: list[Comment] = []
    for comment in kept:
        clean = clean_comment(comment.text, comment_id=str(comment.comment_id))
        formulas += clean.formula_count
        rows.append(_comment(collection, comment, clean))
    Comment.objects.bulk_create(rows, batch_size=ROWS_PER_STATEMENT)
    return Counter(
        kept=len(kept), formulas=formulas, on_posts_that_are_not_here=len(comments) - len(kept)
    )


def _comment(collection: Collection, comment: CommentRecord, clean: CleanText) -> Comment:
    return Comment(
        collection=collection,
        comment_id=comment.comment_id,
        post_id=comment.post_id,
        text=comment.text,
        clean_text=clean.beside(comment.text),
        rules=RULES,
        score=comment.score,
        author_id=comment.author_id,
        author_name=comment.author_name,
        created_at=comment.created_at,
    )


def clear_post_links(collection: Collection) -> None:
    """Delete the links of an earlier file."""
    PostLink.objects.filter(collection=collection).delete()


def store_post_links(collection: Collection, links: Sequence[PostLinkRecord]) -> Counter[str]:
    """Store the distinct links between posts of the collection. Return the counts."""
    known = known_posts(
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


def clear_tags(collection: Collection) -> None:
    """Delete the tags of an earlier file."""
    Tag.objects.filter(collection=collection).delete()


def store_tags(collection: Collection, tags: Sequence[TagRecord]) -> Counter[str]:
    """Store a batch of tags. Return the counts."""
    Tag.objects.bulk_create(
        Tag(collection=collection, name=tag.name, count=tag.questions) for tag in tags
    )
    return Counter(kept=len(tags))


def store_authors(collection: Collection, authors: Sequence[AuthorRecord]) -> Counter[str]:
    """Store a batch of authors, and update existing ones except their badges. Return the counts."""
    Author.objects.bulk_create(
        (
            Author(
                collection=collection,
                author_id=author.author_id,
                name=author.name,
                reputation=author.reputation,
            )
            for author in authors
        ),
        update_conflicts=True,
        update_fields=["name", "reputation"],
        unique_fields=["collection", "author_id"],
        batch_size=ROWS_PER_STATEMENT,
    )
    return Counter(kept=len(authors))
