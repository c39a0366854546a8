"""The jobs of the organizers' own systems, for the tests of all kinds of jobs."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from django.utils import timezone

from arqlab.core.models import Job, Task
from contrib.retrieval import selectors
from contrib.retrieval.services import formula_search
from contrib.retrieval.services.baselines import usual_order
from contrib.retrieval.services.offers import order_baseline
from contrib.retrieval.services.searching import order_indexes
from contrib.retrieval.services.systems import system_named

SMALL: list[tuple[ModuleType, str, float]] = [
    (selectors, "POSTS_AT_ONCE", 1),
    (selectors, "FORMULAS_AT_ONCE", 1),
    (formula_search, "FORMULAS_AT_ONCE", 1),
]


def _order(ground: Any, task: Task, system: str) -> Job:
    order, by = usual_order(task, system_named(system)), ground.scene.organizer
    return order_baseline(order=order, at=timezone.now(), by=by)


CASES: dict[str, Callable[[Any], Job]] = {
    "baseline of posts": lambda ground: _order(ground, ground.scene.task, "bm25"),
    "baseline of formulas": lambda ground: _order(ground, ground.formulas, "tangent-s"),
    "search-index": lambda ground: order_indexes(
        task=ground.scene.task, at=timezone.now(), by=ground.scene.organizer
    ),
}
