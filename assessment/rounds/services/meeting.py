"""An item as a meeting shows it, typeset as on the judging page."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from assessment.judging.selectors.items import ShownInstance, ShownItem
from assessment.judging.services.items import item_payload
from assessment.judging.services.leases import Lease, Taken
from assessment.models import Judgment, PoolInstance
from assessment.pools.selectors.threads import hides_threads
from collection.selectors.threads import posts_of


def shown_instance(instance: PoolInstance, *, lab_slug: str, at: datetime) -> dict[str, Any]:
    """Return the typeset text, heading, formula and thread of an instance."""
    lab = instance.item.topic.task.lab
    post = posts_of(lab, [instance.post_id]).get(instance.post_id)
    one = ShownInstance(instance.pk, instance.doc_id, instance.post_id, post, None)
    shown = ShownItem(
        instance.item,
        is_done=True,
        is_skipped=False,
        hides_threads=hides_threads(instance.item.topic_id),
        is_corrected=True,
        instances=(one,),
    )
    # Nobody judges here, so that the lease has no token.
    payload = item_payload(Taken(shown, Lease("", at)), lab_slug=lab_slug)
    return {**payload["instances"][0], "formula_html": payload["formula_html"]}


def painted_marks(votes: Iterable[tuple[str, str, Judgment | None]]) -> list[dict[str, Any]]:
    """Return the marks to paint in a post from the letter, name and judgment of each assessor."""
    return [
        {"letter": letter, "name": name, "marks": judgment.marks}
        for letter, name, judgment in votes
        if judgment and judgment.marks
    ]
