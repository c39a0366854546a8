"""The texts of pool items."""

import time
from urllib.parse import quote, urlencode

from django.db.models import OuterRef, Subquery
from django.db.models.functions import Coalesce

from arqkit.formats.batches import in_slices
from arqkit.texts.html.foreign import answer_html
from assessment.models import Pool, PoolInstance, PoolItem
from collection.models import Import, Post
from collection.selectors.threads import posts_of
from collection.services.addresses import post_url
from collection.services.rendering import typeset_posts

POSTS_AT_ONCE = 50


def typeset_waiting_pools(*, seconds: float) -> None:
    """Typeset the formulas of frozen pools for about `seconds`, in the order of judging."""
    end = time.monotonic() + seconds
    _begin_again()
    for pool in (
        Pool.objects.exclude(typeset_through=None).select_related("task__lab").order_by("pk")
    ):
        while pool.typeset_through is not None and _typeset_next(pool, end):
            pool.refresh_from_db(fields=["typeset_through"])


def last_import(lab: str) -> Subquery:
    """Return when the last import of posts or documents into the collection of a lab ended."""
    kinds = (Import.Kind.POSTS, Import.Kind.DOCUMENTS)
    done = Import.objects.filter(kind__in=kinds, collection__labs=OuterRef(lab))
    return Subquery(
        done.exclude(finished_at=None).order_by("-finished_at").values("finished_at")[:1]
    )


def _begin_again() -> None:
    """Restart the pools whose collection imported posts later, because posts may have changed."""
    since = Coalesce("typeset_since", "frozen_at")
    late = Pool.objects.annotate(newest=last_import("task__lab")).filter(newest__gt=since)
    for pk, imported_at in late.values_list("pk", "newest"):
        Pool.objects.filter(pk=pk).update(typeset_through=0, typeset_since=imported_at)


def _typeset_next(pool: Pool, end: float) -> bool:
    """Typeset the posts at the next position of every topic. Return False if the time runs out."""
    done = pool.typeset_through or 0
    instances = PoolInstance.objects.filter(item__pool=pool, item__position=done + 1).exclude(
        post_id=""
    )
    post_ids = sorted(set(instances.values_list("post_id", flat=True)))
    for part in in_slices(post_ids, size=POSTS_AT_ONCE):
        if time.monotonic() > end:
            return False
        typeset_posts(posts_of(pool.task.lab, part).values())
    is_last = not PoolItem.objects.filter(pool=pool, position__gt=done + 1).exists()
    # Of two workers at one position, only one advances the pool.
    Pool.objects.filter(pk=pool.pk, typeset_through=done).update(
        typeset_through=None if is_last else done + 1
    )
    return True


def thread_url(item: PoolItem, doc_id: str, post_id: str, lab_slug: str) -> str:
    """Return the address of the post on its thread page, with a formula instance highlighted."""
    if item.kind != PoolItem.Kind.VISUAL_IDS:
        return post_url(lab_slug, post_id)
    address = post_url(lab_slug, post_id).partition("#")[0]
    return f"{address}?{urlencode({'formula': doc_id})}#formula-{quote(doc_id)}"


def body_of(item: PoolItem, post: Post | None) -> str:
    """Return the clean HTML of a post or a generated answer, or an empty text if it is missing.

    A generated answer is plain text with LaTeX. It is set in paragraphs as a post is, so that its
    look does not reveal it.
    """
    if post or not item.text:
        return post.safe_body if post else ""
    return answer_html(item.text, prefix=f"w{item.pk}")
