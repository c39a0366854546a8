"""Evaluation protocols as data: limits, labels, measures and pool depths (protocol §4 to §8).

A lab names one of `PROTOCOLS`. Each of its tasks has a TaskProtocol whose fields the organizer may
override. Measures are in ir_measures notation, main measure first, without `rel`, which is the
task's `relevant_from`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

from arqkit.labels import LabelScale
from arqkit.protocols.scales import ARQMATH, NTCIR, NTCIR_GRADES, TREC_BINARY
from arqkit.ranking import OrderBy
from arqkit.records import ItemKind, TaskKind

PoolMethod = Literal["depth", "rank-by-rank", "none"]
RunKind = Literal["primary", "alternate", "manual", "baseline-primary", "baseline-alternate"]
BaselineDepth = Literal["primary", "alternate", "marked"]
InstancePolicy = Literal["runs", "reciprocal-rank", "threads"]
TokenizerName = Literal["words", "model"]

PRIMES = ("nDCG(judged_only=True)@1000", "AP(judged_only=True)", "P(judged_only=True)@10")
"""nDCG', MAP' and P'@10: the measures of all ARQMath labs."""

_SECONDARY = ("nDCG@1000", "AP", "P@10", "Bpref", "Judged@10", "RR", "P@5", "P@15", "P@20")
"""Further measures, with unjudged items kept in the ranking as in trec_eval."""

_OF_2020 = (*PRIMES[:2], "P@10", PRIMES[2], *(name for name in _SECONDARY if name != "P@10"))
"""ARQMath-1 printed P@10, with unjudged items (000 tables A1 and A2), and not P'@10."""

_ANSWER_DEFINITIONS = (
    "Sufficient to answer the complete question on its own",
    "Provides some path towards the solution. This path might come from clarifying the question, "
    "or identifying steps towards a solution",
    "Provides information that could be useful for finding or interpreting an answer, or "
    "interpreting the question",
    "Provides no information pertinent to the question or its answers. A post that restates the "
    "question without providing any new information is considered non-relevant",
)
"""What the labels of ARQMath mean for answers (000 Table 4, 004 Table 2)."""
_FORMULA_DEFINITIONS = (
    "Just as good as finding an exact match to the query formula would be",
    "Useful but not as good as the original formula would be",
    "There is some chance of finding something useful",
    "Not expected to be useful",
)
"""What the labels of ARQMath mean for formulas (000 Table 4, 004 Table 2)."""


_FORMULA_INSTRUCTION = (
    "Select the relevance of the highlighted formula within each post to the query formula."
)
_DOCUMENT_INSTRUCTION = "Select the relevance of the document to the topic."
_OF_2016 = ("P@5", "P@10", "P@15", "P@20", "AP", "Bpref", "Judged@10")
"""NTCIR-12 reported precision at four depths (003 §4)."""

_ANSWER_SECONDS, _FORMULA_SECONDS = 44.1, 26.6
"""What assessors of ARQMath-3 took for an answer (004 §4.4) and a formula instance (§5.4)."""


@dataclass(frozen=True, slots=True)
class PoolProtocol:
    """The depth of each kind of run in the pool (protocol §5).

    Depths count posts or visually distinct formulas. `method` is depth (the top of every run),
    rank-by-rank (until the pool has `size` items) or none (known-item search). `instance_policy` is
    how the instances of a formula are chosen for judging: runs, reciprocal-rank or threads.
    """

    method: PoolMethod = "depth"
    primary: int = 0
    alternate: int = 0
    manual: int | None = None
    """The depth of manual runs; None if they are pooled as primary or alternate runs."""
    baselines: BaselineDepth = "primary"
    """The depth of baselines: as primary runs, as alternate runs, or each as it is marked."""
    size: int = 0
    visually_distinct: bool = False
    instances: int = 5
    instance_policy: InstancePolicy = "reciprocal-rank"
    extra_depth: int | None = None
    """ARQMath-1: the depth for formulas in posts that were judged relevant in Task 1."""
    extra_threads: bool = False
    """ARQMath-1: whether the pool also has the answers of the topic's thread and its duplicates."""
    includes_generated_answers: bool = False
    """ARQMath-3: whether Task 3's answers are mixed into Task 1's pool."""
    shows_threads: bool = False
    """Whether answer posts keep their thread links beside Task 3's answers, which have no thread:
    ARQMath-3 kept them (004 §4.5), but they reveal which answers are posts."""
    shows_formulas_alone: bool = False
    """Whether assessors see a formula without its document, as in NTCIR-10 (003 §4)."""
    includes_post_hoc_runs: bool = False
    """Whether runs that were submitted after the deadline are pooled, usually in a supplement."""

    def kind_of(self, *, is_primary: bool, is_manual: bool, is_baseline: bool) -> RunKind:
        """Return the pooling kind of a run with these marks; organizers may override it per run."""
        if is_baseline:
            is_deep = is_primary if self.baselines == "marked" else self.baselines == "primary"
            return "baseline-primary" if is_deep else "baseline-alternate"
        if is_manual and self.manual is not None:
            return "manual"
        return "primary" if is_primary else "alternate"

    def depth_of(self, kind: RunKind) -> int:
        """Return the pool depth of a kind of run."""
        if kind == "manual" and self.manual is not None:
            return self.manual
        return self.alternate if kind in ("alternate", "baseline-alternate") else self.primary


@dataclass(frozen=True, slots=True)
class TaskProtocol:
    """The rules of one task.

    - limit: the most items per topic.
    - max_characters: the length of the longest generated answer.
    - quota: the number of runs per team.
    - scored_submissions: how many runs of a team have means before the release, if any have.
    - labels: the scale of the qrels.
    - grades: the scale of each of two assessors if a label of the qrels is the sum of theirs, or
      None if one assessor gives the labels of the qrels.
    - relevant_from: the lowest relevant label.
    - min_relevant: the fewest relevant items of a topic in qrels; 0 keeps every judged topic.
    - order: score items in the order of scores or of submitted ranks.
    - pooling_order: pool the top by score or by submitted rank.
    - instruction: the line above what assessors judge (000 figure 6).
    - definitions: what each judgment means, the highest first; empty if nobody wrote it down.
    - printed: how many of the measures, from the first, the overview paper prints.
    - tokenizer: the tokens of answers for lexical overlap: words, or those of the server's model.
    - seconds: the seconds that a label takes, until this lab has its own timings: those of
      ARQMath-3 (004 §4.4 and §5.4), also for documents. A formula takes a label per instance.
    """

    limit: int = 1000
    max_characters: int = 1200
    quota: int = 5
    scored_submissions: int = 3
    labels: LabelScale = ARQMATH
    grades: LabelScale | None = None
    relevant_from: int = 2
    min_relevant: int = 2
    order: OrderBy = "score"
    pooling_order: OrderBy = "score"
    instruction: str = "Select the relevance of the answer to the question."
    tokenizer: TokenizerName = "words"
    seconds: float = _ANSWER_SECONDS
    measures: tuple[str, ...] = (*PRIMES, *_SECONDARY)
    printed: int = 3
    definitions: tuple[str, ...] = ()
    items: ItemKind = ItemKind.POSTS
    trec_only: bool = False
    """Whether ranked lists are in TREC's format only, and not in ARQMath's as well."""
    answered_only: bool = False
    """Task 3: whether means are over the topics the run answered, not over all topics."""
    pool: PoolProtocol = field(default_factory=PoolProtocol)

    def adds(self, scale: LabelScale) -> bool:
        """Return whether labels of this scale are those of one of two assessors, to be added."""
        return scale == self.grades

    def relevant_in(self, scale: LabelScale) -> int:
        """Return the lowest relevant label of a scale on which items are judged.

        Two equal labels are relevant from there: 2 and 2, because 1 and 1 are below 3 (003 §4).
        """
        return -(-self.relevant_from // 2) if self.adds(scale) else self.relevant_from


@dataclass(frozen=True, slots=True)
class Protocol:
    """The protocol of one lab: its display name and the rules of each kind of task."""

    slug: str
    name: str
    tasks: Mapping[TaskKind, TaskProtocol]


def _formulas(
    primary: int,
    alternate: int,
    *,
    policy: InstancePolicy,
    extra_depth: int | None = None,
    seconds: float = _FORMULA_SECONDS,
) -> TaskProtocol:
    pool = PoolProtocol(
        primary=primary,
        alternate=alternate,
        visually_distinct=True,
        instance_policy=policy,
        extra_depth=extra_depth,
    )
    return TaskProtocol(
        instruction=_FORMULA_INSTRUCTION,
        seconds=seconds,
        items=ItemKind.FORMULA_IDS,
        definitions=_FORMULA_DEFINITIONS,
        pool=pool,
    )


def _ntcir(
    pool: PoolProtocol,
    *,
    limit: int,
    measures: tuple[str, ...],
    printed: int,
    later_measures: tuple[str, ...] = (),
) -> Mapping[TaskKind, TaskProtocol]:
    """Return the rules of the NTCIR tasks: retrieval of formulas, and of documents or paragraphs.

    NTCIR sums the labels 0, 1 and 2 of two assessors; sums of 3 and 4 are relevant, and unjudged
    items are not (003 §4). Its pools follow the submitted ranks; trec_eval scored the runs, by
    score (protocol §5). Its qrels keep all topics.

    For the tasks on documents (formulas and text: 004 §2) these papers give neither depths nor
    measures. Their rules are those of the formula tasks of the same year, one of which searched
    arXiv too (003 Table 2, §3), without `later_measures`: those were computed for formulas, and
    after the lab.
    """
    formulas = TaskProtocol(
        limit=limit,
        labels=NTCIR,
        grades=NTCIR_GRADES,
        relevant_from=3,
        min_relevant=0,
        pooling_order="rank",
        instruction=_FORMULA_INSTRUCTION,
        seconds=_FORMULA_SECONDS,
        measures=later_measures + measures,
        printed=len(later_measures) + printed,
        items=ItemKind.FORMULA_IDS,
        trec_only=True,
        pool=pool,
    )
    documents = replace(
        formulas,
        items=ItemKind.DOCUMENTS,
        measures=measures,
        printed=printed,
        instruction=_DOCUMENT_INSTRUCTION,
        seconds=_ANSWER_SECONDS,
        pool=replace(pool, shows_formulas_alone=False),
    )
    return {TaskKind.FORMULAS: formulas, TaskKind.DOCUMENTS: documents}


_GENERATED_ANSWERS = TaskProtocol(
    limit=1,
    measures=("AR", "P@1", "LO"),
    definitions=_ANSWER_DEFINITIONS,
    items=ItemKind.ANSWERS,
    answered_only=True,
    pool=PoolProtocol(primary=1, alternate=1),
)
_KNOWN_ITEM = TaskProtocol(
    labels=TREC_BINARY,
    relevant_from=1,
    min_relevant=0,
    measures=("RR",),
    instruction=_FORMULA_INSTRUCTION,
    items=ItemKind.FORMULA_IDS,
    trec_only=True,
    pool=PoolProtocol(method="none"),
)

_ALL = (
    Protocol(
        "arqmath-1",
        "ARQMath-1 (2020)",
        {
            # The seconds are those of ARQMath-1 (000 §4.4 and §5.4).
            TaskKind.ANSWERS: TaskProtocol(
                measures=_OF_2020,
                definitions=_ANSWER_DEFINITIONS,
                seconds=63.1,
                pool=PoolProtocol(primary=50, alternate=20, manual=50, extra_threads=True),
            ),
            TaskKind.FORMULAS: replace(
                _formulas(25, 10, policy="runs", extra_depth=1000, seconds=38.1), measures=_OF_2020
            ),
        },
    ),
    Protocol(
        "arqmath-2",
        "ARQMath-2 (2021)",
        {
            TaskKind.ANSWERS: TaskProtocol(
                definitions=_ANSWER_DEFINITIONS,
                pool=PoolProtocol(primary=45, alternate=15, manual=45),
            ),
            TaskKind.FORMULAS: _formulas(20, 10, policy="reciprocal-rank"),
        },
    ),
    Protocol(
        "arqmath-3",
        "ARQMath-3 (2022)",
        {
            # Two of five baselines were pooled as primary runs; manual runs were pooled as
            # primary or alternate runs (004 §4.4).
            TaskKind.ANSWERS: TaskProtocol(
                definitions=_ANSWER_DEFINITIONS,
                pool=PoolProtocol(
                    primary=45, alternate=20, baselines="marked", includes_generated_answers=True
                ),
            ),
            TaskKind.FORMULAS: _formulas(25, 15, policy="reciprocal-rank"),
            TaskKind.GENERATED_ANSWERS: _GENERATED_ANSWERS,
        },
    ),
    Protocol(
        "ntcir-10",
        "NTCIR-10 Math Pilot (2013)",
        # At most 100 results, pooled until there are 100 (003 §3). P@hit, the precision of all
        # results, is SetP (003 §4).
        _ntcir(
            PoolProtocol(method="rank-by-rank", size=100, shows_formulas_alone=True),
            limit=100,
            measures=("AP", "P@5", "P@10", "SetP", "Judged@10"),
            printed=4,
        ),
    ),
    Protocol("ntcir-11", "NTCIR-11 Math-2, known item (2014)", {TaskKind.FORMULAS: _KNOWN_ITEM}),
    Protocol(
        "ntcir-12",
        "NTCIR-12 MathIR (2016)",
        # At most 1,000 results, 20 of each run pooled (003 §3); precision at four depths (003 §4).
        # For formulas, nDCG' comes first: later comparisons of these runs report it (003 Table 7).
        _ntcir(
            PoolProtocol(primary=20, alternate=20),
            limit=1000,
            measures=_OF_2016,
            printed=4,
            later_measures=("nDCG(judged_only=True)@1000",),
        ),
    ),
    Protocol(
        "ntcir-12-simto",
        "NTCIR-12 MathIR, simto (2016)",
        # Queries with subexpressions to be matched by similarity, in arXiv (003 §2): pooled, judged
        # and measured like the task above (003 §3, §4).
        {
            TaskKind.FORMULAS: _ntcir(
                PoolProtocol(primary=20, alternate=20), limit=1000, measures=_OF_2016, printed=4
            )[TaskKind.FORMULAS]
        },
    ),
)

PROTOCOLS: Mapping[str, Protocol] = MappingProxyType({protocol.slug: protocol for protocol in _ALL})
"""The presets by slug, as named in a lab file."""
