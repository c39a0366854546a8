"""The evaluation protocols as data: limits, labels, measures and pool depths of each lab's tasks
(protocol §4 to §8).

A lab names one of `PROTOCOLS`; a task is then one of its TaskProtocols, in which the organizer may
override fields. Measures are in ir_measures notation, the main one first, without `rel`: it is the
task's `relevant_from`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from arqlab.ir.records import ItemKind, TaskKind

PoolMethod = Literal["depth", "rank-by-rank", "none"]
RunKind = Literal["primary", "alternate", "manual", "baseline-primary", "baseline-alternate"]
BaselineDepth = Literal["primary", "alternate", "marked"]
InstancePolicy = Literal["runs", "reciprocal-rank", "threads"]

PRIMES = ("nDCG(judged_only=True)@1000", "AP(judged_only=True)", "P(judged_only=True)@10")
"""nDCG', MAP' and P'@10: the measures of all three ARQMath labs."""

_BESIDES = ("nDCG@1000", "AP", "P@10", "Bpref", "Judged@10", "RR", "P@5", "P@15", "P@20")
"""What teams also compare: unjudged items kept in, as trec_eval prints it."""


@dataclass(frozen=True, slots=True)
class PoolProtocol:
    """How deep each kind of run goes into the pool (protocol §5). Depths count posts, or visually
    distinct formulas.

    `method` is depth (the top of every run), rank-by-rank (until `size` items), or none (a known
    item). `instance_policy` chooses the instances of a formula that are judged: runs,
    reciprocal-rank, or threads.
    """

    method: PoolMethod = "depth"
    primary: int = 0
    alternate: int = 0
    manual: int | None = None
    """The depth of manual runs; None where a manual run goes by its primary or alternate mark."""
    baselines: BaselineDepth = "primary"
    """Whether baselines go as deep as primary or as alternate runs, or each by its own mark."""
    size: int = 0
    visually_distinct: bool = False
    instances: int = 5
    instance_policy: InstancePolicy = "reciprocal-rank"
    extra_depth: int | None = None
    """ARQMath-1: for formulas whose answer post was judged relevant in Task 1."""
    extra_threads: bool = False
    """ARQMath-1: the answers of the topic's own thread and of its duplicates are in too."""
    holds_written_answers: bool = False
    """ARQMath-3: Task 3's answers are mixed into Task 1's pool."""

    def kind_of(self, *, is_primary: bool, is_manual: bool, is_baseline: bool) -> RunKind:
        """Return as what a run with these marks is pooled, unless the organizer says otherwise of this
        one run.
        """
        if is_baseline:
            is_deep = is_primary if self.baselines == "marked" else self.baselines == "primary"
            return "baseline-primary" if is_deep else "baseline-alternate"
        if is_manual and self.manual is not None:
            return "manual"
        return "primary" if is_primary else "alternate"

    def depth_of(self, kind: RunKind) -> int:
        """Return the depth of a kind of run."""
        if kind == "manual" and self.manual is not None:
            return self.manual
        return self.alternate if kind in ("alternate", "baseline-alternate") else self.primary


@dataclass(frozen=True, slots=True)
class TaskProtocol:
    """The rules of one task.

    `limit` is the most items of a topic, `max_characters` the longest written answer, `quota` the
    runs of a team; `labels` the lowest and highest label, `relevant_from` the lowest relevant one;
    `order` is score or rank.
    """

    limit: int = 1000
    max_characters: int = 1200
    quota: int = 5
    labels: tuple[int, int] = (0, 3)
    relevant_from: int = 2
    order: str = "score"
    measures: tuple[str, ...] = (*PRIMES, *_BESIDES)
    items: ItemKind = ItemKind.POSTS
    answered_only: bool = False
    """Task 3: the means are over the topics that the run answered, not over all topics of the
    qrels.
    """
    pool: PoolProtocol = field(default_factory=PoolProtocol)


@dataclass(frozen=True, slots=True)
class Protocol:
    """One lab's protocol: its name for people and the rules of each kind of task that it has."""

    slug: str
    name: str
    tasks: Mapping[TaskKind, TaskProtocol]


def _formulas(
    primary: int, alternate: int, *, policy: InstancePolicy, extra_depth: int | None = None
) -> TaskProtocol:
    pool = PoolProtocol(
        primary=primary,
        alternate=alternate,
        visually_distinct=True,
        instance_policy=policy,
        extra_depth=extra_depth,
    )
    return TaskProtocol(items=ItemKind.FORMULA_IDS, pool=pool)


def _ntcir(pool: PoolProtocol, *, limit: int, measures: tuple[str, ...]) -> TaskProtocol:
    """NTCIR sums the labels 0, 1, 2 of two assessors and counts an instance relevant from 3 (003
    §4).
    """
    return TaskProtocol(
        limit=limit,
        labels=(0, 4),
        relevant_from=3,
        measures=measures,
        items=ItemKind.FORMULA_IDS,
        pool=pool,
    )


_WRITTEN_ANSWERS = TaskProtocol(
    limit=1,
    measures=("AR", "P@1"),
    items=ItemKind.ANSWERS,
    answered_only=True,
    pool=PoolProtocol(primary=1, alternate=1),
)
_KNOWN_ITEM = TaskProtocol(
    labels=(0, 1),
    relevant_from=1,
    measures=("RR",),
    items=ItemKind.FORMULA_IDS,
    pool=PoolProtocol(method="none"),
)

_ALL = (
    Protocol(
        "arqmath-1",
        "ARQMath-1 (2020)",
        {
            TaskKind.ANSWERS: TaskProtocol(
                pool=PoolProtocol(primary=50, alternate=20, manual=50, extra_threads=True)
            ),
            TaskKind.FORMULAS: _formulas(25, 10, policy="runs", extra_depth=1000),
        },
    ),
    Protocol(
        "arqmath-2",
        "ARQMath-2 (2021)",
        {
            TaskKind.ANSWERS: TaskProtocol(pool=PoolProtocol(primary=45, alternate=15, manual=45)),
            TaskKind.FORMULAS: _formulas(20, 10, policy="reciprocal-rank"),
        },
    ),
    Protocol(
        "arqmath-3",
        "ARQMath-3 (2022)",
        {
            # Two of five baselines were pooled as primary runs; manual runs went by their marks
            # (004 §4.4).
            TaskKind.ANSWERS: TaskProtocol(
                pool=PoolProtocol(
                    primary=45, alternate=20, baselines="marked", holds_written_answers=True
                )
            ),
            TaskKind.FORMULAS: _formulas(25, 15, policy="reciprocal-rank"),
            TaskKind.WRITTEN_ANSWERS: _WRITTEN_ANSWERS,
        },
    ),
    Protocol(
        "ntcir-10",
        "NTCIR-10 Math Pilot (2013)",
        {
            TaskKind.FORMULAS: _ntcir(
                PoolProtocol(method="rank-by-rank", size=100),
                limit=100,
                measures=("AP", "P@5", "P@10", "Judged@10"),
            )
        },
    ),
    Protocol("ntcir-11", "NTCIR-11 Math-2, known item (2014)", {TaskKind.FORMULAS: _KNOWN_ITEM}),
    Protocol(
        "ntcir-12",
        "NTCIR-12 MathIR (2016)",
        {
            # nDCG' leads: it is what the later comparisons of these runs report (003 Table 7).
            TaskKind.FORMULAS: _ntcir(
                PoolProtocol(primary=20, alternate=20),
                limit=1000,
                measures=(
                    "nDCG(judged_only=True)@1000",
                    "P@5",
                    "P@10",
                    "P@15",
                    "P@20",
                    "AP",
                    "Bpref",
                    "Judged@10",
                ),
            )
        },
    ),
)

PROTOCOLS: Mapping[str, Protocol] = MappingProxyType({protocol.slug: protocol for protocol in _ALL})
"""The presets by the slug that a lab names."""
