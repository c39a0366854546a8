"""What the pages of frozen pools show: those of a task, and one with its settings and its size."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arqkit.protocols.presets import PROTOCOLS, PoolProtocol
from arqlab.core.models import Task
from assessment.models import Pool
from assessment.pools.selectors.choices import PooledTogether, pooled_together
from assessment.pools.selectors.frozen import TopicSize, can_be_discarded, pool_sizes, topic_sizes
from assessment.pools.selectors.news import PoolNews, pool_news
from assessment.qrels.selectors.counts import Size
from submissions.models import Run


@dataclass(frozen=True, kw_only=True)
class TaskPools:
    """The pools of a task with their sizes, and what has changed since they were frozen."""

    frozen: Sequence[tuple[Pool, Size]]
    news: PoolNews
    together: PooledTogether | None


@dataclass(frozen=True, kw_only=True)
class PoolPage:
    """A pool with its settings in words, its size and topics, and those of its runs that exist."""

    pool: Pool
    depths: str
    preset: str
    size: Size
    can_be_discarded: bool
    topics: Sequence[TopicSize]
    runs_by_key: Mapping[int, Run]


def task_pools(task: Task) -> TaskPools:
    """Return the pool of a task and its supplements."""
    pools = list(Pool.official.filter(task=task).select_related("frozen_by").order_by("number"))
    sizes = pool_sizes(pools)
    return TaskPools(
        frozen=[(pool, sizes[pool.pk]) for pool in pools],
        news=pool_news(task, pools),
        together=pooled_together(task),
    )


def pool_page(pool: Pool) -> PoolPage:
    """Return a pool as its page shows it."""
    topics = topic_sizes(pool)
    return PoolPage(
        pool=pool,
        depths=settings_summary(PoolProtocol(**pool.settings)),
        preset=PROTOCOLS[pool.preset].name if pool.preset else "",
        size=Size(
            sum(topic.items for topic in topics),
            sum(topic.labels for topic in topics),
            sum(topic.done for topic in topics),
        ),
        can_be_discarded=can_be_discarded(pool),
        topics=topics,
        runs_by_key=Run.objects.in_bulk([run["run"] for run in pool.runs]),
    )


def settings_summary(protocol: PoolProtocol) -> str:
    """Return the settings of a pool as one line."""
    if protocol.method == "rank-by-rank":
        parts = [f"rank by rank over all runs until each topic has {protocol.size} items"]
    else:
        manual = f", manual {protocol.manual}" if protocol.manual is not None else ""
        parts = [f"primary {protocol.primary}, alternate {protocol.alternate}{manual}"]
    if protocol.visually_distinct:
        policy = protocol.instance_policy.replace("-", " ")
        parts.append(
            f"visually distinct formulas with at most {protocol.instances} instances each, "
            f"by {policy}"
        )
    parts += ["formulas shown without their documents"] * protocol.shows_formulas_alone
    if protocol.extra_depth:
        parts.append(f"depth {protocol.extra_depth} in posts relevant in Task 1")
    parts += ["answers from the topic's thread and its duplicates"] * protocol.extra_threads
    if protocol.includes_generated_answers:
        threads = "with" if protocol.shows_threads else "without"
        parts.append(f"answers of Task 3, beside posts {threads} thread links")
    parts += ["post-hoc runs"] * protocol.includes_post_hoc_runs
    return "; ".join(parts)
