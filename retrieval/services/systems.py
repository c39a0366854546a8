"""The systems: each is declared here once, with what it needs, its settings and what it ranks."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

import numpy as np
import polars as pl

from arqkit.formats.runs.writing import MOST_ITEMS
from arqkit.records import TASK_WORDS, TaskKind
from arqlab.core.errors import UserError
from retrieval.selectors import Sources, has_links, has_votes
from submissions.models import Run

Progress = Callable[[int, int | None], None]
Rank = Callable[[Sources, Mapping[str, Any], Progress], pl.DataFrame]
Need = Callable[[Sources], str]
"""What a system needs: returns what is lacking and what to do, or an empty text."""
RANKING = {"topic": pl.String, "item": pl.String, "score": pl.Float64}


def needs_topics(sources: Sources) -> str:
    """Return what to do if the task has no topics."""
    return "" if sources.topics else f"{sources.task.name} has no topics. Load its topics."


def needs_items(sources: Sources) -> str:
    """Return what to do if the collection has nothing that the task retrieves."""
    if sources.collection is None:
        return "The lab has no collection. Load one under Collection."
    kind = TaskKind(sources.task.kind)
    file = "formulas_index" if kind is TaskKind.FORMULAS else "posts_index"
    if getattr(sources.collection, file):
        return ""
    words = "formulas" if kind is TaskKind.FORMULAS else "posts"
    command = "import_formulas" if kind is TaskKind.FORMULAS else "import_posts"
    return f"The collection has no {words}. Load them under Collection, or with {command}."


def needs_links(sources: Sources) -> str:
    """Return what to do if topics have no threads, or posts have no links or votes."""
    if not sources.task.topics.exclude(thread_id="").exists():
        return "The threads of the topics are not known: their file does not name them."
    if sources.collection is None or not has_links(sources.collection):
        return "The collection has no links of posts. Load PostLinks.xml of the dump."
    if not has_votes(sources.collection):
        return "The posts have no vote scores. Load a dump that has them."
    return ""


def needs_package(package: str, extra: str) -> Need:
    """Return the need of a package that is installed with an extra of arqkit."""

    def lacks(sources: Sources) -> str:
        if find_spec(package):
            return ""
        return f"{package} is not installed on the server. Run: pip install 'arqkit[{extra}]'"

    return lacks


@dataclass(frozen=True)
class System:
    """A system of the organizers. `key` names it in commands, and tags its runs.

    `kinds` are the tasks it serves, `needs` what it cannot do without, `settings` its parameters,
    and `rank` what it does: it gets the sources, the settings and a callback for its progress, and
    returns a ranking (topic, item, score).
    """

    key: str
    name: str
    description: str
    kinds: tuple[TaskKind, ...]
    rank: Rank
    needs: tuple[Need, ...] = (needs_topics, needs_items)
    data_used: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)

    def refusal(self, sources: Sources) -> str:
        """Return why the system cannot rank for a task, and what to do; empty if it can."""
        if (kind := TaskKind(sources.task.kind)) not in self.kinds:
            return f"This system does not retrieve {TASK_WORDS[kind].retrieved}."
        return next(filter(None, (need(sources) for need in self.needs)), "")


def random_order(sources: Sources, settings: Mapping[str, Any], progress: Progress) -> pl.DataFrame:
    """Return items of the collection in random order, the same for the same seed and topic."""
    ids, rows = sources.item_ids(), []
    for done, topic in enumerate(sources.topics):
        progress(done, len(sources.topics))
        chance = np.random.default_rng([settings["seed"], zlib.crc32(topic.query_id.encode())])
        drawn = chance.choice(len(ids), size=min(MOST_ITEMS, len(ids)), replace=False)
        scores = np.arange(len(drawn), 0, -1, dtype=np.float64)
        items = ids.gather(drawn)
        rows.append(pl.DataFrame({"topic": topic.query_id, "item": items, "score": scores}))
    return pl.concat(rows)


def linked_answers(
    sources: Sources, settings: Mapping[str, Any], progress: Progress
) -> pl.DataFrame:
    """Return all answers of threads linked as duplicates, by vote score (seed 000, §4.3)."""
    ranking = pl.DataFrame(list(sources.voted_answers()), schema=RANKING, orient="row")
    progress(len(ranking), len(ranking))
    return ranking


_POSTS = (TaskKind.ANSWERS, TaskKind.DOCUMENTS)
SYSTEMS = {
    system.key: system
    for system in (
        System(
            "random",
            "Random order",
            "Items of the collection in random order: what no system should be below.",
            (*_POSTS, TaskKind.FORMULAS),
            random_order,
            settings={"seed": 0},
        ),
        System(
            "linked-posts",
            "Linked posts",
            "All answers of threads that are linked as duplicates of the topic, by vote score. "
            "Participants do not have these links.",
            (TaskKind.ANSWERS,),
            linked_answers,
            (needs_topics, needs_items, needs_links),
            data_used=Run.DataUsed.LINKS,
        ),
    )
}


def system_named(key: str) -> System:
    """Return a system by its key, or raise `UserError` with the keys there are."""
    if key not in SYSTEMS:
        raise UserError(
            f"There is no system {key!r}. Choose one of {', '.join(SYSTEMS)}.",
            code="unknown-system",
        )
    return SYSTEMS[key]
