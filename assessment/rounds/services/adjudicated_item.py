"""An item of the adjudication as the judging page shows it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from assessment.judging.selectors.items import ShownInstance, ShownItem
from assessment.judging.services.items import item_payload
from assessment.judging.services.leases import Lease, Taken
from assessment.models import PoolInstance
from collection.selectors.threads import posts_of

NO_LEASE = Lease("", datetime(1970, 1, 1, tzinfo=UTC))


def shown_instance(instance: PoolInstance, *, lab_slug: str) -> dict[str, Any]:
    """Return an instance as the judging page gets it, with the formula of its item."""
    item = instance.item
    post = posts_of(item.topic.task.lab, [instance.post_id]).get(instance.post_id)
    shown = ShownInstance(instance.pk, instance.doc_id, instance.post_id, post, None)
    found = ShownItem(item, is_done=False, is_skipped=False, is_mixed=False, instances=(shown,))
    payload = item_payload(Taken(found, NO_LEASE), lab_slug=lab_slug)
    [one] = payload["instances"]
    return {**one, "formula_html": payload["formula_html"]}
