"""How tests judge: as the page does, over HTTP."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import uuid4

from django.db.models import F
from django.test import Client

from arqlab.core.models import User
from assessment.models import Judgment, PoolInstance, PoolItem


class Desk:
    """A browser of an assessor at a topic; `last` is the last response."""

    def __init__(
        self,
        user: User | None,
        query_id: str = "A.1",
        *,
        task: str = "task1",
        lab: str = "arqmath-x",
        round: str = "",
    ) -> None:
        self.client, self.user = Client(headers={"User-Agent": "Test browser 1"}), user
        if user is not None:
            self.client.force_login(user)
        within = f"rounds/{round}/" if round else ""
        self.base = f"/api/v1/labs/{lab}/tasks/{task}/{within}topics/{query_id}/judging/"
        self.last: Any = None

    def get(self, path: str, **query: str) -> Any:
        """Ask, and give the answer's JSON."""
        self.last = self.client.get(self.base + path, query)
        return self.last.json()

    def post(self, path: str, body: Any) -> Any:
        """Send JSON, and give the answer's."""
        self.last = self.client.post(self.base + path, body, content_type="application/json")
        return self.last.json()

    def next(self, have: Sequence[int] = ()) -> Any:
        """Take the next item."""
        return self.get("next/", have=",".join(map(str, have)))["item"]

    def work(self, **time: float) -> None:
        """Let time pass, as the arguments of `timedelta`: what the server saw of the user is older.

        Signed leases are not.
        """
        passed = timedelta(**time)
        PoolItem.objects.filter(leased_to=self.user).update(leased_since=F("leased_since") - passed)
        own = Judgment.objects.filter(assessor=self.user)
        own.update(judged_at=F("judged_at") - passed)

    def submit(self, item: Any, *labels: Any, have: Sequence[int] = (), **fields: Any) -> Any:
        """Send a label for each instance of an item in their order, after the time that they
        report; fields go to each. That time is a write of all that the user judged before.
        """
        rows = [
            label_for(instance, label, **fields)
            for instance, label in zip(item["instances"], labels, strict=False)
        ]
        if passed := sum(row["active_ms"] or 0 for row in rows):
            self.work(milliseconds=passed)
        return self.post("judgments/", body_for(item, rows, have))


def name_of(item: Any) -> str:
    """Return the id of an item in the pool, which the page does not get."""
    return PoolItem.objects.get(pk=item["item"]).item


def doc_id_of(instance: Any) -> str:
    """Return the id of an instance in the qrels, which the page does not get."""
    return PoolInstance.objects.get(pk=instance["instance"]).doc_id


def label_for(instance: Any, label: Any, **fields: Any) -> dict[str, Any]:
    """Return a label as the page sends it."""
    seen = instance["judgment"] and instance["judgment"]["judgment"]
    known = {
        "instance": instance["instance"],
        "label": label,
        "key": str(uuid4()),
        "seen": seen,
        "active_ms": 20_000,
    }
    return known | fields


def body_for(item: Any, rows: Sequence[Any], have: Sequence[int] = ()) -> dict[str, Any]:
    """Return labels as the page sends them together."""
    return {
        "item": item["item"],
        "lease": item["lease"],
        "judgments": list(rows),
        "have": list(have),
    }
