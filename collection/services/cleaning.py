"""Sanitizing the texts of collections again after the rules changed."""

from collections.abc import Callable
from copy import copy

from django.db import transaction
from django.db.models import QuerySet

from arqkit.texts.html.sanitizer import RULES, clean_comment, clean_title_and_body
from collection.models import NEVER_CLEANED, Collection, Comment, Post

BATCH = 500

Progress = Callable[[int, int], None]


def clean_posts(
    *, collection: Collection | None = None, of_all: bool = False, progress: Progress | None = None
) -> int:
    """Sanitize the posts and comments of one collection or all. Return their number.

    Only texts sanitized by older rules, or with `of_all` every text. The original texts never
    change. Each batch is its own transaction and marks its rows, so the next call continues after
    an interruption. With `of_all`, all rows are marked as outdated first; they are sanitized on
    each read until their turn comes.
    """
    posts, comments = Post.objects.all(), Comment.objects.all()
    if collection:
        posts = posts.filter(collection=collection)
        comments = comments.filter(collection=collection)
    if of_all:
        posts.update(rules=NEVER_CLEANED)
        comments.update(rules=NEVER_CLEANED)
    old_posts, old_comments = posts.filter(rules__lt=RULES), comments.filter(rules__lt=RULES)
    total = old_posts.count() + old_comments.count()
    done = 0
    while count := _clean_posts(old_posts) or _clean_comments(old_comments):
        done += count
        if progress:
            progress(done, total)
    return done


def cleaned_again(post: Post) -> bool:
    """Return whether sanitizing the post again would change its displayed text."""
    title, body = clean_title_and_body(post.title, post.body, post_id=post.post_id)
    uncorrected = copy(post)
    uncorrected.corrected_body = None
    return (title.html, body.html) != (uncorrected.safe_title, uncorrected.safe_body)


@transaction.atomic
def clean_post_again(post: Post) -> None:
    """Sanitize the texts of one post by the current rules."""
    _clean_posts(Post.objects.filter(pk=post.pk))


@transaction.atomic
def _clean_posts(old: QuerySet[Post]) -> int:
    # Lock the rows: a text that an import replaces must not get the sanitized form of the old one.
    posts = list(old.select_for_update().order_by("pk")[:BATCH])
    changed = []
    for post in posts:
        title, body = clean_title_and_body(post.title, post.body, post_id=post.post_id)
        texts = title.kept, body.kept
        if texts != (post.clean_title, post.clean_body):
            post.clean_title, post.clean_body = texts
            changed.append(post)
    Post.objects.bulk_update(changed, ["clean_title", "clean_body"], batch_size=100)
    return Post.objects.filter(pk__in=[post.pk for post in posts]).update(rules=RULES)


@transaction.atomic
def _clean_comments(old: QuerySet[Comment]) -> int:
    # Lock the rows, as `_clean_posts` does.
    comments = list(old.select_for_update().order_by("pk")[:BATCH])
    changed = []
    for comment in comments:
        clean_text = clean_comment(comment.text, comment_id=comment.comment_id).beside(comment.text)
        if clean_text != comment.clean_text:
            comment.clean_text = clean_text
            changed.append(comment)
    Comment.objects.bulk_update(changed, ["clean_text"], batch_size=100)
    return Comment.objects.filter(pk__in=[comment.pk for comment in comments]).update(rules=RULES)
