"""The formulas of a pool's posts, typeset before an assessor opens them.

How far a pool is stands in the database, so a lost message or a worker that dies loses nothing: the beat goes on where
the last one was.
"""

from __future__ import annotations

import time

from assessment.models import Pool, PoolInstance, PoolItem
from collection.models import Post
from collection.services import typeset_posts


def typeset_pools(*, seconds: float) -> None:
    """Typeset the formulas of frozen pools for about so many seconds, what assessors see first before the rest."""
    end = time.monotonic() + seconds
    for pool in Pool.objects.exclude(typeset_through=None).order_by("pk"):
        done = pool.typeset_through
        while done is not None and time.monotonic() < end:
            done = _typeset_next(pool, done)


def _typeset_next(pool: Pool, done: int) -> int | None:
    """Typeset the posts that stand at the next position of every topic; gives that position, None where none is left."""
    shown = PoolInstance.objects.filter(item__pool=pool, item__position=done + 1).values("shown_post")
    typeset_posts(Post.objects.filter(pk__in=shown))
    is_last = not PoolItem.objects.filter(pool=pool, position__gt=done + 1).exists()
    # Of two workers at one position one moves the pool on; the other found every formula typeset.
    Pool.objects.filter(pk=pool.pk, typeset_through=done).update(typeset_through=None if is_last else done + 1)
    return None if is_last else done + 1
