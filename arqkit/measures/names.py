"""Measures: names in ir_measures notation, headings as in papers, definitions, and providers (§8).

`nDCG(judged_only=True)@1000` is headed nDCG', `AP(rel=2,judged_only=True)` MAP',
`P(rel=2,judged_only=True)@10` P'@10. A measure without `rel` takes the task's `relevant_from`, and
its full name includes it: a stored score never depends on a default.
"""

import subprocess
import threading
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import ir_measures
import numpy as np
import polars as pl
from ir_measures.measures import ParamInfo, SumAgg
from ir_measures.providers import Evaluator, Provider
from ir_measures.providers.base import NOT_PROVIDED
from numpy.typing import NDArray

from arqkit.data_files import data_beside
from arqkit.extras import how_to_install

# Errors of providers when a value is undefined or a program fails.
_FAILURES = (
    ArithmeticError, AssertionError, LookupError, OSError, RuntimeError, TypeError, ValueError,
    subprocess.SubprocessError,
)  # fmt: skip
# gdeval reads files with columns separated by spaces.
_WITHOUT_BLANKS = (
    pl.col("item").str.replace_all("%", "%25", literal=True)
    .str.replace_all(" ", "%20", literal=True)
)  # fmt: skip

EXTRAS = {"pyndeval": f"{how_to_install('measures')} in a checkout of ArqLab"}
"""How to install the providers that an extra brings."""

LONGEST_RUN = 1000
"""The depth of the papers' runs: a measure with this cutoff is headed without it."""
LONGEST_NAME = 60
"""Characters of a measure's full name, in the database."""
DECIMALS_READ = 2
"""Decimals of a recall level or of beta: trec_eval reads no more."""
_ROUNDED = ("recall", "beta")
_WHOLE = ("cutoff", "rel", "min_rel", "max_rel")

_PAPERS_NAMES = {
    "AP": "MAP", "RR": "MRR", "Bpref": "bpref", "Judged": "judged", "OneNN": "1-NN",
}  # fmt: skip
_EQUATION_KINDS: Mapping[str, tuple[str, ...]] = {
    "uMAP": ("cutoff", "rel", "judged_only"),
    "RankingScore": ("rel",),
    "OneNN": ("rel",),
}
"""The measures of equation search (002 §5.2, §6.1, §6.3), which ir_measures lacks, with their
parameters. Its own `Accuracy` is a ranking score of the retrieved items only, unjudged ones too.
"""

COUNTS_OF_QRELS = ("NumQ", "NumRel")
"""The counts that are the same for all runs."""
_WITHOUT_PROVIDER = {*_EQUATION_KINDS, *COUNTS_OF_QRELS, "RBP"}
"""Of RBP, ir_measures knows providers that are published as sources only. pytrec_eval counts the
topics and relevant items of answered topics only, and relevant items from label 1 only.
"""
_CUT_KINDS = ("nDCG", "AP", "P", "uMAP")
_WHOLE_KINDS = ("RR", "Bpref", "RankingScore", "OneNN", *COUNTS_OF_QRELS)
_EXAMPLES = "nDCG(judged_only=True)@1000, AP(rel=2,judged_only=True), P(rel=2)@10, RR@10 or ERR@20"


class MeasureRefusedError(ValueError):
    """A measure that is invalid or that no installed provider computes.

    The message is for users.
    """


class MeasureFailedError(Exception):
    """A provider failed on a run."""


# Asked with each run, and each answer takes a trial run of the provider.
@lru_cache(maxsize=1024)
def require_provider(name: str) -> Provider:
    """Return the first installed provider that computes a measure, as ir_measures chooses it.

    Raises MeasureRefusedError if no installed provider computes it, with the package to install, or
    if the provider returns no value for a run that retrieves one relevant item.
    """
    measure = ir_measures.parse_measure(name)
    able: list[Provider] = [
        provider for provider in ir_measures.DefaultPipeline.providers if provider.supports(measure)
    ]
    provider = next((provider for provider in able if provider.is_available()), None)
    if provider is None:
        packages = [
            EXTRAS.get(provider.NAME) or provider.install_instructions() or provider.NAME  # type: ignore[no-untyped-call]
            for provider in able
        ]
        missing = " or ".join(map(str, packages))
        todo = (
            f"Install a provider ({missing}) or use another measure."
            if missing
            else "None that could be installed does. Use other parameters or another measure."
        )
        raise MeasureRefusedError(f"No installed provider computes {name}. {todo}")
    try:
        metrics = list(provider.evaluator([measure], {"1": {"1": 1}}).iter_calc({"1": {"1": -1.0}}))
    except _FAILURES as error:
        raise _undefined(name) from error
    if len(metrics) != 1 or not np.isfinite(metrics[0].value):
        raise _undefined(name)
    return provider


def _undefined(name: str) -> MeasureRefusedError:
    return MeasureRefusedError(
        f"{name} has no value for some runs, so it has no mean over topics. Use another measure."
    )


class ProvidedMeasures:
    """Measures, given by name, that their providers compute for many runs.

    `judged` has the columns topic, code (of the topic, from 0), item and label.
    """

    def __init__(self, judged: pl.DataFrame, names: Iterable[str], *, topics: int) -> None:
        # The lock is for `values`, which several threads call.
        self._topics, self._lock = topics, threading.Lock()
        self._names = {ir_measures.parse_measure(name): name for name in names}
        passes: dict[tuple[Provider, ir_measures.Measure | None], list[ir_measures.Measure]] = (
            defaultdict(list)
        )
        for measure in self._names:
            # ir_measures joins a measure without `rel` to any pass of pytrec_eval, even one that
            # ranks judged items only or maps labels to gains. Such a measure gets its own pass.
            alone = None if "rel" in measure.params else measure
            passes[require_provider(self._names[measure]), alone].append(measure)
        uses_gdeval = any(provider is ir_measures.gdeval for provider, _ in passes)
        self._item = _WITHOUT_BLANKS if uses_gdeval else pl.col("item")
        labels = _nested(judged.select("code", self._item, value="label")) if self._names else {}
        self._codes = judged.select("topic", "code").unique()
        self._evaluators: list[Evaluator] = [
            provider.evaluator(group, labels) for (provider, _), group in passes.items()
        ]

    def values(self, index: pl.DataFrame) -> dict[str, NDArray[np.float64]]:
        """Return the value of each topic by the measure's name. `index` has topic, item and order.

        Scores are descending whole numbers; below 2**24, no provider finds a tie. Raises
        MeasureFailedError if a provider fails.
        """
        values = {name: np.zeros(self._topics) for name in self._names.values()}
        if not values:
            return values
        rows = index.join(self._codes, on="topic")
        run = _nested(rows.select("code", self._item, value=-pl.col("order").cast(pl.Float64)))
        # Several threads score runs; no provider promises that it can be called by two at once.
        with self._lock:
            for evaluator in self._evaluators:
                try:
                    for metric in evaluator.iter_calc(run):
                        values[self._names[metric.measure]][int(metric.query_id)] = metric.value
                except _FAILURES as error:
                    raise MeasureFailedError(", ".join(map(str, evaluator.measures))) from error
        # trec_eval divides by zero if a topic has no relevant item. The value is 0, as for other
        # measures.
        return {name: np.nan_to_num(by_topic, copy=False) for name, by_topic in values.items()}


def _nested(rows: pl.DataFrame) -> dict[str, dict[str, float]]:
    lists = rows.group_by("code").agg("item", "value")
    return {
        str(code): dict(zip(items, values, strict=True))
        for code, items, values in lists.iter_rows()
    }


for _kind, _names in _EQUATION_KINDS.items():  # then ir_measures reads them too
    _known = {name: ir_measures.AP.SUPPORTED_PARAMS[name] for name in _names}
    _fields = {"__name__": _kind, "NAME": _kind, "SUPPORTED_PARAMS": _known}
    ir_measures.measures.register(type(_kind, (ir_measures.Measure,), _fields)())  # type: ignore[no-untyped-call]


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure of one task.

    `name` is its full ir_measures notation, `label` its column heading in files.

    `options` is true for parameters other than `rel`, `judged_only` and the cutoff. `is_count` is
    true for a number of items or topics (NumRet), which is summed over topics.
    """

    name: str
    label: str
    kind: str
    cutoff: int | None = None
    rel: int | None = None
    judged_only: bool = False
    options: bool = False
    is_count: bool = False

    @property
    def heading(self) -> str:
        """Return the column heading on pages, with a typeset prime: nDCG′."""
        return self.label.replace("'", "′")

    @property
    def is_columnar(self) -> bool:
        """Return whether `arqkit.measures.columns` computes the measure."""
        if self.kind in _WHOLE_KINDS:
            return not (self.judged_only or self.options or self.cutoff)
        if self.kind == "RBP":
            return True
        return self.kind in _CUT_KINDS and not self.options

    @property
    def needs_texts(self) -> bool:
        """Return whether the measure compares texts of answers, and not only judged items."""
        return self.kind in TEXT_KINDS

    @property
    def is_rating(self) -> bool:
        """Return whether the measure rates a run. Judged@k and counts do not."""
        return self.kind != "Judged" and not self.is_count


AVERAGE_RELEVANCE = Measure("AR", "AR", "AR")
"""The mean label of the first answers (ARQMath-3 §6). ir_measures has no name for it."""

LEXICAL_OVERLAP = Measure("LO", "LO", "LO")
"""The token F1 with the best known relevant answer (ARQMath-3 §6.3.2), from the texts."""
CONTEXTUAL_SIMILARITY = Measure("CS", "CS", "CS")
"""The same with BERTScore's F1 of a language model (ARQMath-3 §6.4.2)."""
TEXT_KINDS = (LEXICAL_OVERLAP.kind, CONTEXTUAL_SIMILARITY.kind)
_OWN = {
    measure.name: measure for measure in (AVERAGE_RELEVANCE, LEXICAL_OVERLAP, CONTEXTUAL_SIMILARITY)
}


@lru_cache(maxsize=1024)
def parse_measure(text: str, *, relevant_from: int = 2) -> Measure:
    """Read one measure in ir_measures notation.

    `relevant_from` is the lowest relevant label where the text has no `rel`.
    Raises MeasureRefusedError with a message that says what to write or install instead.
    """
    if our_measure := _OWN.get(text.strip()):
        return our_measure
    parsed = _read(text)
    supported = parsed.SUPPORTED_PARAMS
    params = {key: value for key, value in parsed.params.items() if value != supported[key].default}
    # NumRet without `rel` uses all labels; the others would take ir_measures' own default.
    rel_has_default = "rel" in supported and (
        supported["rel"].default is not NOT_PROVIDED or parsed.NAME == "RBP"
    )
    if rel_has_default:
        params["rel"] = parsed.params.get("rel", relevant_from)
    measure = Measure(
        name=str(parsed.NAME) + _parameters(parsed, params),
        label=_label(parsed, params, rel_has_default=rel_has_default),
        kind=str(parsed.NAME),
        cutoff=params.get("cutoff"),
        rel=params.get("rel"),
        judged_only="judged_only" in params,
        options=bool(params.keys() - {"rel", "judged_only", parsed.AT_PARAM}),
        is_count=isinstance(parsed.aggregator(), SumAgg),
    )
    if len(measure.name) > LONGEST_NAME:
        raise MeasureRefusedError(
            f"The measure {measure.name} has {len(measure.name)} characters. "
            f"Use at most {LONGEST_NAME}."
        )
    if measure.kind not in _WITHOUT_PROVIDER:
        require_provider(measure.name)
    return measure


def parse_measures(texts: Iterable[str], *, relevant_from: int = 2) -> tuple[Measure, ...]:
    """Read the measures of a task, main measure first.

    Of measures that differ only in `rel`, such as full and partial bpref, the first has its usual
    heading, and the others have `rel` in theirs. Raises MeasureRefusedError if a measure is invalid
    or two would have the same heading.
    """
    headed: dict[str, Measure] = {}
    for text in texts:
        measure = parse_measure(text, relevant_from=relevant_from)
        if (other := headed.get(measure.label)) and other.rel != measure.rel:
            measure = replace(measure, label=_label_with_rel(measure))
        if other := headed.get(measure.label):
            raise MeasureRefusedError(
                f"The measures {other.name} and {measure.name} would have the same heading, "
                f"{measure.label}. Keep one of them."
            )
        headed[measure.label] = measure
    return tuple(headed.values())


def _label_with_rel(measure: Measure) -> str:
    name, at, cutoff = measure.label.partition("@")
    name = f"{name[:-1]},rel={measure.rel})" if name.endswith(")") else f"{name}(rel={measure.rel})"
    return name + at + cutoff


def _read(text: str) -> ir_measures.Measure:
    """Return the measure that ir_measures reads, which may still be one that nothing computes.

    Raises MeasureRefusedError if it reads none, or if a parameter is missing, wrong or misread.
    """
    try:
        parsed = ir_measures.parse_measure(text)
    except (ValueError, NameError, TypeError, AssertionError, RecursionError) as error:
        raise MeasureRefusedError(
            f"Unknown measure {text!r}. Use the notation of ir_measures, such as {_EXAMPLES}."
        ) from error
    supported = parsed.SUPPORTED_PARAMS
    for name, value in parsed.params.items():
        if name not in supported:
            names = ", ".join(supported) or "none"
            raise MeasureRefusedError(
                f"{parsed.NAME} has no parameter {name}. The parameters that it has: {names}."
            )
        is_valid = supported[name].validate(value)  # type: ignore[no-untyped-call]
        if not (is_valid and _is_computed(name, value)):
            raise MeasureRefusedError(
                f"{parsed.NAME} cannot be computed with {name}={value!r}. "
                f"Use {_expected(name, supported[name])}."
            )
    missing = [it for it, info in supported.items() if info.required and it not in parsed.params]
    if missing:
        needs = " and ".join(f"{name}, {_expected(name, supported[name])}" for name in missing)
        at = f", such as {parsed.NAME}@10" if missing == ["cutoff"] else ""
        raise MeasureRefusedError(f"{parsed.NAME} needs {needs}{at}.")
    return parsed


def _is_computed(name: str, value: bool | str | float | dict[object, object]) -> bool:
    """Return whether providers read a value that ir_measures accepts as it is meant."""
    match value:
        case bool() | str():
            return name not in _WHOLE
        case int():
            return value >= _least(name)
        case float():
            fits = 0 <= value <= _most(name)
            return fits and (name not in _ROUNDED or round(value, DECIMALS_READ) == value)
    return all(isinstance(grade, int) and grade >= 0 for pair in value.items() for grade in pair)


def _least(name: str) -> int:
    return 0 if name == "min_rel" else 1


def _most(name: str) -> int:
    return LONGEST_RUN if name in ("beta", "T") else 1


def _expected(name: str, info: ParamInfo) -> str:
    """Return which values a parameter may have."""
    if info.choices is not NOT_PROVIDED:
        return " or ".join(map(repr, info.choices))
    if info.dtype is bool:
        return "True or False"
    if info.dtype is int:
        return f"a whole number from {_least(name)}"
    if info.dtype is float:
        decimals = f" and at most {DECIMALS_READ} decimals" if name in _ROUNDED else ""
        return f"a number from 0.0 to {_most(name)}.0 with a decimal point{decimals}"
    return "whole numbers from 0, as in {1:1,2:3}"


def _parameters(parsed: ir_measures.Measure, params: Mapping[str, object]) -> str:
    """Write parameters in ir_measures' order: (rel=2,judged_only=True)@10."""
    listed = ",".join(
        f"{key}={parsed._param_repr(params[key])}"  # type: ignore[no-untyped-call]
        for key in parsed.SUPPORTED_PARAMS
        if key in params and key != parsed.AT_PARAM
    )
    at = f"@{params[parsed.AT_PARAM]}" if parsed.AT_PARAM in params else ""
    return (f"({listed})" if listed else "") + at


def _label(
    parsed: ir_measures.Measure, params: Mapping[str, object], *, rel_has_default: bool
) -> str:
    """Return the heading: the name in papers, a prime for judged_only, and no `rel` of the task."""
    hidden = {"judged_only"} | ({"rel"} if rel_has_default else set())
    if parsed.NAME in ("nDCG", "AP", "uMAP") and params.get("cutoff") == LONGEST_RUN:
        hidden.add("cutoff")
    visible = {key: value for key, value in params.items() if key not in hidden}
    kind = str(parsed.NAME)
    name = _PAPERS_NAMES.get(kind, kind) + "'" * ("judged_only" in params)
    return name + _parameters(parsed, visible).replace("'", "")


class MeasureDefinition(NamedTuple):
    """What a measure is, and where it was defined."""

    text: str
    source: str


_ANOTHER = MeasureDefinition(
    "See the documentation of ir_measures.", "https://ir-measur.es/en/latest/measures.html"
)
_KINDS = {
    kind: MeasureDefinition(**known) for kind, known in data_beside(__file__, "kinds.toml").items()
}
MEASURE_KINDS = tuple(kind for kind in _KINDS if kind not in TEXT_KINDS)
"""The kinds of measures that one can ask for: all with a definition that need no texts."""


def definition_of(measure: Measure) -> MeasureDefinition:
    """Return what a measure is, with what its cutoff, `rel` and `judged_only` mean."""
    definition = _KINDS.get(measure.kind)
    if definition is None:
        return _ANOTHER
    text = definition.text
    parts = [text if measure.cutoff is None else f"{text}, to rank {measure.cutoff}"]
    if measure.rel is not None:
        parts.append(f"Items are relevant from label {measure.rel}")
    if measure.judged_only:
        parts.append("Unjudged items are removed first")
    return definition._replace(text=f"{'. '.join(parts)}.")
