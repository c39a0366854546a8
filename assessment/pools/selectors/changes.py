"""What is there now that a task's pools were not made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from arqlab.core.errors import UserError
from arqlab.core.models import Task
from assessment.models import Pool
from assessment.pools.selectors.choices import PoolChoice, choice_of
from assessment.pools.selectors.plans import plan_pool
from assessment.pools.selectors.sources import task_sources
from collection.models import VisualMap
from collection.selectors.collections import collection_of
from collection.selectors.visual_maps import newest_map
from submissions.models import Run


class PoolNews(NamedTuple):
    """What differs since the task's pools were frozen: late runs, withdrawn ones by name, newer
    visual ids.
    """

    late: list[Run]
    withdrawn: list[str]
    newer_map: VisualMap | None

    @property
    def is_any(self) -> bool:
        """Return whether a supplement may hold something."""
        return bool(self.late or self.newer_map)


def pool_news(task: Task, pools: Sequence[Pool]) -> PoolNews:
    """Return what a supplement with the settings of the last pool would be made of beside the task's
    pools.

    They are in the order of their numbers. A run that brings nothing but what they hold is no news.
    """
    if not pools:
        return PoolNews([], [], None)
    known = {run["run"]: f"{run['team']} {run['tag']}" for pool in pools for run in pool.runs}
    standing = set(Run.objects.valid().filter(pk__in=known).values_list("pk", flat=True))
    maps = [pool.visual_map_id for pool in pools if pool.visual_map_id]
    collection = collection_of(task.lab) if maps else None
    newest = newest_map(collection) if collection else None
    return PoolNews(
        late=_late(task, choice_of(pools[-1]), known),
        withdrawn=[name for key, name in known.items() if key not in standing],
        newer_map=newest if newest and newest.pk != maps[-1] else None,
    )


def _late(task: Task, choice: PoolChoice, known: dict[int, str]) -> list[Run]:
    sources = task_sources(task, choice)
    runs = [run for run in sources.runs if run.pk not in known]
    written = [run for run in sources.written if run.pk not in known]
    if runs:  # only then are indexes read
        try:
            brought = {each.run.pk: each.items for each in plan_pool(task=task, choice=choice).runs}
        except (
            UserError
        ):  # two runs bring one answer with different texts: the page of the supplement says so
            return [*runs, *written]
        runs = [run for run in runs if brought[run.pk]]
    return [*runs, *written]
