"""The formulas of a pool's posts, typeset before an assessor opens them.

How far a pool is stands in the database, so a lost message or a worker that dies loses nothing: the beat goes on where
the last one was.
"""

from __future__ import annotations

import time

from arqlab.ir.slices import in_slices
from assessment.models import Pool, PoolInstance, PoolItem
from collection.models import Post
from collection.services import typeset_posts

POSTS_AT_ONCE = 50


def typeset_pools(*, seconds: float) -> None:
    """Typeset the formulas of frozen pools for about so many seconds, what assessors see first before the rest."""
    end = time.monotonic() + seconds
    for pool in Pool.objects.exclude(typeset_through=None).order_by("pk"):
        while pool.typeset_through is not None and _typeset_next(pool, end):
            pool.refresh_from_db(fields=["typeset_through"])


def _typeset_next(pool: Pool, end: float) -> bool:
    """Typeset the posts that stand at the next position of every topic; False when the time is over before."""
    done = pool.typeset_through or 0
    shown = PoolInstance.objects.filter(item__pool=pool, item__position=done + 1).values_list("shown_post", flat=True)
    for keys in in_slices(sorted({key for key in shown if key}), size=POSTS_AT_ONCE):
        if time.monotonic() > end:
            return False
        typeset_posts(Post.objects.filter(pk__in=keys))
    is_last = not PoolItem.objects.filter(pool=pool, position__gt=done + 1).exists()
    # Of two workers at one position one moves the pool on; the other found every formula typeset.
    Pool.objects.filter(pk=pool.pk, typeset_through=done).update(typeset_through=None if is_last else done + 1)
    return True
