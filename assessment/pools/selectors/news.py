"""What has changed since the pools of a task were frozen."""

from collections.abc import Container, Sequence
from dataclasses import replace
from typing import NamedTuple

from arqlab.core.errors import UserError
from arqlab.core.models import Task
from assessment.models import Pool
from assessment.pools.selectors.choices import PoolChoice, choice_of
from assessment.pools.selectors.plans import contributing_runs
from assessment.pools.selectors.sources import task_sources
from collection.models import VisualMap
from collection.selectors.collections import collection_of
from collection.selectors.visual_maps import newest_map
from submissions.models import Run


class PoolNews(NamedTuple):
    """Changes since the pools were frozen: late runs, names of withdrawn runs, newer visual ids."""

    late: list[Run]
    withdrawn: list[str]
    newer_map: VisualMap | None

    @property
    def is_any(self) -> bool:
        """Return whether a supplement may have items."""
        return bool(self.late or self.newer_map)


def pool_news(task: Task, pools: Sequence[Pool]) -> PoolNews:
    """Return the changes since a task's pools (in order) were frozen.

    Runs that would contribute nothing to a supplement with the last pool's settings are left out.
    """
    if not pools:
        return PoolNews([], [], None)
    pooled = {run["run"]: f"{run['team']} {run['tag']}" for pool in pools for run in pool.runs}
    standing = set(Run.objects.scorable().filter(pk__in=pooled).values_list("pk", flat=True))
    maps = [pool.visual_map_id for pool in pools if pool.visual_map_id]
    collection = collection_of(task.lab) if maps else None
    newest = newest_map(collection) if collection else None
    return PoolNews(
        late=_late(task, choice_of(pools[-1]), pooled),
        withdrawn=[name for key, name in pooled.items() if key not in standing],
        newer_map=newest if newest and newest.pk != maps[-1] else None,
    )


def _late(task: Task, choice: PoolChoice, pooled: Container[int]) -> list[Run]:
    sources = task_sources(task, choice)
    runs = tuple(run for run in sources.runs if run.pk not in pooled)
    written = [run for run in sources.written if run.pk not in pooled]
    if runs:  # read indexes only in this case
        # How deep other runs reach, rank by rank, depends on all.
        read = runs if choice.protocol.method == "depth" else sources.runs
        try:
            brought = contributing_runs(replace(sources, runs=read))
        except UserError:  # Two runs differ in an answer; the page of the supplement reports it.
            return [*runs, *written]
        runs = tuple(run for run in runs if run.pk in brought)
    return [*runs, *written]
