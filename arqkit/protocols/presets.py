"""Evaluation protocols as data: limits, labels, measures and pool depths (protocol §4 to §8).

A lab names one of `PROTOCOLS`. Each of its tasks has a TaskProtocol whose fields the organizer may
override. Measures are in ir_measures notation, main measure first, without `rel`, which is the
task's `relevant_from`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import partial
from types import MappingProxyType
from typing import Literal

from arqkit.labels import LabelScale
from arqkit.measures.names import parse_measures
from arqkit.protocols.scales import (
    ARQMATH,
    NTCIR,
    NTCIR_GRADES,
    SCALES,
    TREC_BINARY,
    grades_of,
    read_scale,
)
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

_OF_2020 = (*PRIMES, "P@10", *(name for name in _SECONDARY if name != "P@10"))
"""ARQMath-1 reported P@10, with unjudged items (000 table A1), which stands beside P'@10."""


_FORMULA_INSTRUCTION = (
    "Select the relevance of the highlighted formula within each post to the query formula."
)
_DOCUMENT_INSTRUCTION = "Select the relevance of the document to the topic."
LONGEST_INSTRUCTION = 300
_OF_2016 = ("P@5", "P@10", "P@15", "P@20", "AP", "Bpref", "Judged@10")
"""NTCIR-12 reported precision at four depths (003 §4)."""

_ANSWER_SECONDS, _FORMULA_SECONDS = 44.1, 26.6


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
        instruction=_FORMULA_INSTRUCTION, seconds=seconds, items=ItemKind.FORMULA_IDS, pool=pool
    )


def _ntcir(
    pool: PoolProtocol,
    *,
    limit: int,
    measures: tuple[str, ...],
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
        items=ItemKind.FORMULA_IDS,
        trec_only=True,
        pool=pool,
    )
    documents = replace(
        formulas,
        items=ItemKind.DOCUMENTS,
        measures=measures,
        instruction=_DOCUMENT_INSTRUCTION,
        seconds=_ANSWER_SECONDS,
        pool=replace(pool, shows_formulas_alone=False),
    )
    return {TaskKind.FORMULAS: formulas, TaskKind.DOCUMENTS: documents}


_GENERATED_ANSWERS = TaskProtocol(
    limit=1,
    measures=("AR", "P@1", "LO"),
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
            TaskKind.ANSWERS: TaskProtocol(pool=PoolProtocol(primary=45, alternate=15, manual=45)),
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
                pool=PoolProtocol(
                    primary=45, alternate=20, baselines="marked", includes_generated_answers=True
                )
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
                PoolProtocol(primary=20, alternate=20), limit=1000, measures=_OF_2016
            )[TaskKind.FORMULAS]
        },
    ),
)

PROTOCOLS: Mapping[str, Protocol] = MappingProxyType({protocol.slug: protocol for protocol in _ALL})
"""The presets by slug, as named in a lab file."""


class OverrideRefusedError(ValueError):
    """Invalid overrides: {field: (what was found, what was expected, what to do)}."""

    def __init__(self, refused: Mapping[str, tuple[str, str, str]]) -> None:
        super().__init__(
            " ".join(
                f"Found {actual}; expected {expected}. {todo}"
                for actual, expected, todo in refused.values()
            )
        )
        self.refused = dict(refused)


def with_overrides(protocol: TaskProtocol, overrides: Mapping[str, object]) -> TaskProtocol:
    """Return the protocol with some fields replaced, as written in a lab file or form.

    A scale given by name sets its lowest relevant label too, unless that is replaced as well. Only
    a scale of sums, given by name, is judged by two assessors.

    Raises OverrideRefusedError with every unknown field and every invalid value.
    """
    refused: dict[str, tuple[str, str, str]] = {}
    preset = overrides.get("labels")
    read: dict[str, object] = {}
    if isinstance(preset, str) and preset in SCALES:
        read["relevant_from"] = SCALES[preset].relevant_from
    if preset is not None:
        read["grades"] = grades_of(preset)
    for name, value in overrides.items():
        try:
            read[name] = _READERS[name](value)
        except KeyError:
            near = get_close_matches(name, _READERS, n=1)
            refused[name] = (
                f"the field {name}",
                f"one of {', '.join(_READERS)}",
                (f"Did you mean {near[0]}?" if near else "Remove it."),
            )
        except ValueError as error:
            refused[name] = (f"{name} = {value!r:.200}", str(error), "Correct the value.")
    if refused:
        raise OverrideRefusedError(refused)
    changed = replace(protocol, **read)  # type: ignore[arg-type]  # each reader returns its type
    try:
        # AP(rel=3) and AP are the same measure if labels are relevant from 3.
        parse_measures(changed.measures, relevant_from=changed.relevant_from)
    except ValueError as error:
        actual = f"measures = {list(changed.measures)!r:.200}"
        refusal = {"measures": (actual, str(error), "Correct the value.")}
        raise OverrideRefusedError(refusal) from error
    return changed


MOST = 1_000_000_000
"""The highest number of a rule, which every database and measure can hold."""


def whole_number(value: object, *, least: int = 1) -> int:
    """Read a whole number of at least `least`; raise ValueError with the expected value."""
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= MOST:
        raise ValueError(f"a whole number of at least {least} and at most {MOST:,}")
    return value


def truth(value: object) -> bool:
    """Read true or false; raise ValueError with the expected value."""
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


def item_kind(value: object) -> ItemKind:
    """Read the kind of items; raise ValueError with the expected value."""
    return ItemKind(one_of(*(kind.value for kind in ItemKind))(value))


def one_of(*choices: str) -> Callable[[object], str]:
    """Return a reader of one of these texts; it raises ValueError with the expected ones."""

    def read(value: object) -> str:
        if not isinstance(value, str) or value not in choices:
            raise ValueError("one of " + ", ".join(choices))
        return value

    return read


def _measures(value: object) -> tuple[str, ...]:
    if (
        not isinstance(value, list | tuple)
        or not value
        or not all(isinstance(text, str) for text in value)
    ):
        raise ValueError(
            'a list of measures, main measure first, such as ["nDCG(judged_only=True)@1000"]'
        )
    parse_measures(value)
    return tuple(value)


def _instruction(value: object) -> str:
    """Read a line of text; raise ValueError with the expected value."""
    if not isinstance(value, str) or not value.strip() or len(value) > LONGEST_INSTRUCTION:
        raise ValueError(f"a line of at most {LONGEST_INSTRUCTION} characters")
    return " ".join(value.split())


_READERS: Mapping[str, Callable[[object], object]] = {
    "limit": whole_number,
    "max_characters": whole_number,
    "quota": whole_number,
    "scored_submissions": whole_number,
    "labels": read_scale,
    "relevant_from": whole_number,
    "min_relevant": partial(whole_number, least=0),
    "order": one_of("score", "rank"),
    "pooling_order": one_of("score", "rank"),
    "measures": _measures,
    "instruction": _instruction,
    "tokenizer": one_of("words", "model"),
    "items": item_kind,
    "trec_only": truth,
    "answered_only": truth,
}

OVERRIDABLE = tuple(_READERS)
"""The fields that may be overridden."""
