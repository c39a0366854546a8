"""Addresses of the threads that pool items come from."""

from __future__ import annotations

from urllib.parse import quote, urlencode

from assessment.models import PoolItem
from collection.services.addresses import post_url


def thread_url(item: PoolItem, doc_id: str, post_id: str, lab_slug: str) -> str:
    """Return the address of the post on its thread page, with a formula instance highlighted."""
    if item.kind != PoolItem.Kind.VISUAL_IDS:
        return post_url(lab_slug, post_id)
    address = post_url(lab_slug, post_id).partition("#")[0]
    return f"{address}?{urlencode({'formula': doc_id})}#formula-{quote(doc_id)}"
